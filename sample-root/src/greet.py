"""Greets people by the time of day."""

from datetime import datetime


def greeting(name: str, hour: int) -> str:
    """Return a greeting for the given hour (0 to 23)."""
    if hour < 12:
        part = "morning"
    elif hour < 18:
        part = "afternoon"
    else:
        part = "evening"
    return f"Good {part}, {name}!"


if __name__ == "__main__":
    print(greeting("Grace", datetime.now().hour))
