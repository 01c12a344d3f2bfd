"""Durable graphs of Python nodes on the engine of pons, under LangGraph's names.

    from pons.graph import StateGraph, START, END
    from pons.checkpoint.sqlite import SqliteSaver

docs/reference/python.md says what is there and what is different.
"""
