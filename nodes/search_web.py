"""search_web: looks outside, where the plan says that it helps and the caller permits it. Results are untrusted text."""

from __future__ import annotations

import asyncio

from langgraph.runtime import Runtime

from backends.errors import WebUnavailable
from graph.context import Context, Step
from graph.seam import OverBudget
from graph.state import State, Update, WebReport
from retrieval.types import Json


async def search_web(state: State, runtime: Runtime[Context]) -> Update:
    step = Step("search_web", state, runtime)
    plan = state["decided"]
    queries = plan["web_queries"] or [plan["rewritten_query"]]
    report: WebReport = {"used": False, "reason": "", "queries": queries, "results": 0}
    results: list[Json] = []
    web = await asyncio.to_thread(lambda: step.library.web)  # whether it may be used stands in a file
    if web is None:
        report["reason"] = "no web key is configured (TAVILY_API_KEY)"
    else:
        try:
            for query in queries:
                results.extend(dict(r) for r in await step.acall("web_calls", web.search, query))
            report["used"] = bool(results)
            report["reason"] = f"the plan calls outside information {plan['web_relevance']}"
        except WebUnavailable as error:
            report["reason"], report["error"] = "the web search failed", str(error)
        except OverBudget as limit:
            report["reason"] = f"the budget {limit} was spent"
    report["results"] = len(results)
    return {
        "web_results": results,
        "web_report": report,
        "trace": step.trace(event="web", **report),
        "usage": step.usage(),
    }
