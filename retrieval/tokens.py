"""temporary"""


def estimate(text):
    return len(text) // 3 + 1


def estimate_messages(messages):
    return sum(estimate(m["content"]) + 6 for m in messages)
