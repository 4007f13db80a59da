"""Ways to be faster that were tried and left out, kept so that whoever doubts the verdict can try again."""
