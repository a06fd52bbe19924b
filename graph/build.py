"""The diagram in code: nodes, edges and policies, nothing else."""

from __future__ import annotations

from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore
from langgraph.types import Checkpointer

from graph.context import Context
from graph.routing import after_grade, after_plan, after_preflight, after_web
from graph.state import Answer, Request, State
from nodes.abstain import abstain
from nodes.begin_turn import begin_turn
from nodes.correct import correct
from nodes.finish import finish
from nodes.generate import generate
from nodes.grade import grade
from nodes.plan import plan
from nodes.preflight import preflight
from nodes.retrieve import retrieve
from nodes.search_web import search_web

Agent = CompiledStateGraph[State, Context, Request, Answer]


def build_graph(checkpointer: Checkpointer = None, store: BaseStore | None = None) -> Agent:
    """The compiled graph; embedders bring a checkpointer and a store, the server brings its own."""
    graph: Any = StateGraph(State, context_schema=Context, input_schema=Request, output_schema=Answer)
    graph.add_node("begin_turn", begin_turn)
    graph.add_node("plan", plan)
    graph.add_node("preflight", preflight)
    graph.add_node("retrieve", retrieve)
    graph.add_node("grade", grade)
    graph.add_node("correct", correct)
    graph.add_node("search_web", search_web)
    graph.add_node("generate", generate)
    graph.add_node("abstain", abstain)
    graph.add_node("finish", finish)

    graph.add_edge(START, "begin_turn")
    graph.add_edge("begin_turn", "plan")
    graph.add_conditional_edges("plan", after_plan, {"no evidence needed": "generate", "look": "preflight"})
    graph.add_conditional_edges(
        "preflight",
        after_preflight,
        {"documents": "retrieve", "web alone": "search_web", "nothing to search": "abstain"},
    )
    graph.add_edge("retrieve", "grade")
    graph.add_conditional_edges(
        "grade",
        after_grade,
        {
            "sufficient": "generate",
            "weak, a correction left": "correct",
            "web": "search_web",
            "weak, none left": "abstain",
        },
    )
    graph.add_edge("correct", "retrieve")
    graph.add_conditional_edges("search_web", after_web, {"evidence": "generate", "nothing": "abstain"})
    graph.add_edge("generate", "finish")
    graph.add_edge("abstain", "finish")
    graph.add_edge("finish", END)
    compiled: Agent = graph.compile(checkpointer=checkpointer, store=store, name="agent")
    return compiled


def build_planner() -> Agent:
    """The head of the same graph, ending after the plan: what `perquire plan` runs."""
    graph: Any = StateGraph(State, context_schema=Context, input_schema=Request)
    graph.add_node("begin_turn", begin_turn)
    graph.add_node("plan", plan)
    graph.add_edge(START, "begin_turn")
    graph.add_edge("begin_turn", "plan")
    graph.add_edge("plan", END)
    compiled: Agent = graph.compile(name="planner")
    return compiled


graph = build_graph()
graph.description = "Answers questions over your own documents: cites its evidence, or says what is missing."  # type: ignore[attr-defined]
