import { readFileSync, readdirSync } from "node:fs";
import type { Update } from "$lib/ipc/types";
import { describe, expect, it } from "vitest";
import * as list from "./list";
import { rowsOf } from "./rows";
import * as session from "./session";
import * as settings from "./settings";

const folder = "../tests/fixtures/events";
const recordings = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));

/** Applies all updates of a topic and returns the final state. */
function follow<S>(
  updates: readonly Update[],
  apply: (state: S | null, update: Update) => { type: string; state?: S | null },
): S | null {
  let state: S | null = null;
  for (const update of updates) {
    const outcome = apply(state, update);
    expect(outcome.type).toBe("applied");
    state = outcome.state ?? null;
  }
  return state;
}

describe("the shared recordings", () => {
  it("exist", () => expect(recordings.length).toBeGreaterThan(3));

  it.each(recordings)("%s is followed without a gap and can be rendered", (name) => {
    const updates = readFileSync(`${folder}/${name}`, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Update);
    const first = updates[0];
    if (first?.type !== "snapshot") throw new Error("a recording begins with a snapshot");
    if (first.snapshot.topic === "sessions") {
      expect(follow(updates, list.apply)?.sessions.length).toBeGreaterThan(0);
    } else if (first.snapshot.topic === "settings") {
      expect(follow(updates, settings.apply)).not.toBeNull();
    } else {
      const state = follow(updates, session.apply);
      if (!state) throw new Error("no state");
      const rows = rowsOf(state);
      expect(rows.length).toBeGreaterThan(0);
      expect(new Set(rows.map((row) => row.key)).size).toBe(rows.length);
      // Every call of the transcript has its card or question.
      const visible = rows.flatMap((row) =>
        row.kind === "steps" ? row.steps.flatMap((step) => step.call?.id ?? []) : [],
      );
      const askingCalls = state.questions.map((question) => question.call);
      expect([...visible, ...askingCalls].sort()).toEqual([...state.calls.keys()].sort());
    }
  });
});
