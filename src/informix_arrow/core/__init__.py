"""The parts that the blocking and the asyncio classes share. Not for other code."""
