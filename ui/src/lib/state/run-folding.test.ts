import type { SessionInfo } from "$lib/ipc/types";
import { describe, expect, it } from "vitest";
import { type Folding, groupRuns, toggled } from "./run-folding";
import { groupRows } from "./sidebar";

const HELD = "h";

/** Returns a session described by a word: its task, its id, and its state. `-` means no task. */
function session(word: string): SessionInfo {
  const [task = "", id = "", matter = ""] = word.split(".");
  const status = ({ w: "waiting", r: "running", f: "failed", F: "failed" } as const)[matter] ?? "idle";
  return {
    id,
    title: task === "-" ? id : task.toLowerCase(),
    folder: task === task.toLowerCase() ? "/x" : "/X",
    profile: "general",
    mode: "ask",
    model: null,
    source: task === "-" ? "window" : "task",
    pinned: matter === "p",
    status,
    created_at: 1,
    updated_at: 5,
    // F means failed and read.
    read_at: matter === "f" || matter === "u" ? 4 : 5,
    usage: { input: 0, cache_read: 0, cache_write: 0, output: 0 },
  };
}

const folding = (open = ""): Folding => ({ open: new Set(open.split("")), keeps: (id) => id === HELD });
/** Formats the rows of a group: `+2` for two folded runs, `-2` for two unfolded ones. */
const render = (words: string, open?: string): string =>
  groupRows([{ name: "today", sessions: words.split(" ").map(session) }], folding(open))
    .flatMap((line) => {
      if (line.kind === "session") return [line.info.id];
      return line.kind === "runs" ? [`${line.group.open ? "-" : "+"}${line.group.folded.length}`] : [];
    })
    .join(" ");

describe("runs of a task in the list", () => {
  it.each([
    // All but the newest fold into one row.
    ["t.1 t.2 t.3", "1 +2"],
    ["-.a t.1 t.2 t.3 t.4 -.b", "a 1 +3 b"],
    // A single earlier run takes no more space than its folded row.
    ["t.1 t.2", "1 2"],
    // Only adjacent runs of one task in one folder fold.
    ["t.1 t.2 -.a t.3 t.4", "1 2 a 3 4"],
    ["t.1 t.2 t.3 u.4 u.5 u.6", "1 +2 4 +2"],
    ["t.1 T.2 t.3 T.4", "1 2 3 4"],
    ["t.1 t.2 t.3 -.a t.4 t.5 t.6", "1 +2 a 4 +2"],
    // The person's own sessions never fold.
    ["-.a -.b -.c", "a b c"],
    // Runs that need the person, are running, failed unseen, are pinned or on screen stay visible in their
    // position.
    ["t.1 t.2.w t.3 t.4", "1 +2 2"],
    ["t.1 t.2 t.3.r t.4", "1 +2 3"],
    ["t.1 t.2 t.3 t.4.f", "1 +2 4"],
    ["t.1 t.2.p t.3 t.4", "1 +2 2"],
    ["t.1 t.2 t.h t.4", "1 +2 h"],
    ["t.1 t.2.w t.3.f t.4", "1 2 3 4"],
    // Seen failures and merely unread runs fold.
    ["t.1 t.2.F t.3.u", "1 +2"],
    // The newest is visible in any state.
    ["t.1.r t.2 t.3", "1 +2"],
  ])("%s: %s", (words, expected) => {
    expect(render(words)).toBe(expected);
  });

  it.each([
    ["t.1 t.2 t.3", "2", "1 -2 2 3"],
    ["t.1 t.2 t.3 -.a t.4 t.5 t.6", "5", "1 +2 a 4 -2 5 6"],
    // Visible runs keep their position among the folded ones.
    ["t.1 t.2 t.3.w t.4", "24", "1 -2 2 3 4"],
    // A new run arrived, older ones were loaded or another session came between: still unfolded.
    ["t.0 t.1 t.2 t.3", "23", "0 -3 1 2 3"],
    ["t.1 t.2 t.3 t.4 t.5", "23", "1 -4 2 3 4 5"],
    ["t.7 t.8 t.9 -.a t.1 t.2 t.3", "23", "7 +2 a 1 -2 2 3"],
    // Being unfolded does not carry over to the adjacent runs of another task.
    ["u.1 u.2 u.3", "79", "1 +2"],
  ])("%s, of which %s were unfolded: %s", (words, open, expected) => {
    expect(render(words, open)).toBe(expected);
  });

  it("unfold and fold independently and keep their state", () => {
    const turn = (words: string, open: string): string => {
      const [group] = groupRuns(words.split(" ").map(session), folding(open));
      return group ? [...toggled(new Set(open.split("")), group)].join("") : "";
    };
    expect(turn("t.1 t.2 t.3", "x")).toBe("x23");
    expect(turn("t.1 t.2 t.3", "x23")).toBe("x");
    // A run that restarts while its group is folded again folds once it is over.
    expect(turn("t.1 t.2 t.3 t.4.r", "x234")).toBe("x");
    expect(turn("t.4.r t.1 t.2 t.3", "x234")).toBe("x");
  });

  it("keep their row while runs arrive and are read", () => {
    const keys = (words: string): string[] =>
      groupRows([{ name: "today", sessions: words.split(" ").map(session) }], folding())
        .filter(({ kind }) => kind === "runs")
        .map(({ key }) => key);
    const [first, second, ...more] = keys("t.1 t.2 t.3 -.a t.4 t.5 t.6");
    expect(first).not.toBe(second);
    expect(more).toEqual([]);
    expect(keys("t.0.r t.1 t.2 t.3 -.a t.4 t.5 t.6 t.7")).toEqual([first, second]);
  });

  it("have a row each where nothing folds: by folder and in search results", () => {
    const sessions = ["t.1", "t.2", "t.3"].map(session);
    expect(groupRows([{ name: "today", sessions }]).map(({ kind }) => kind)).toEqual([
      "group",
      ...Array(3).fill("session"),
    ]);
  });
});
