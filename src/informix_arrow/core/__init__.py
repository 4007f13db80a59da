"""The parts that the blocking and the asyncio classes share: session runners, bases of connections and cursors,
the pool's state.

Not for other code.
"""
