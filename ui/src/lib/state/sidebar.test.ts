import type { SessionHit, SessionInfo } from "$lib/ipc/types";
import { describe, expect, it } from "vitest";
import { dayOf, dayText } from "./days";
import { resultRows, groupRows, marked } from "./sidebar";

const info = (id: string): SessionInfo => ({
  id,
  title: id,
  folder: "/x",
  profile: "general",
  mode: "ask",
  model: null,
  source: "window",
  pinned: false,
  status: "idle",
  created_at: 1,
  updated_at: 1,
  usage: { input: 0, cache_read: 0, cache_write: 0, output: 0 },
});
const hit = (id: string): SessionHit => ({ info: info(id), message: `m${id}`, snippet: "a", marks: [] });

describe("lines of the sidebar", () => {
  it("put a label before each group and each line under a key of its own", () => {
    const lines = groupRows([
      { name: "needs_you", sessions: [info("w")] },
      { name: "today", sessions: [info("a"), info("b")] },
    ]);
    expect(lines.map((line) => line.key)).toEqual(["group:needs_you", "w", "group:today", "a", "b"]);
    expect(lines[0]).toMatchObject({ kind: "group", count: 1 });
  });

  const rows = (sessions: SessionInfo[], hits: SessionHit[], more: { cut?: boolean; searching?: boolean } = {}) => ({
    sessions,
    hits,
    cut: false,
    searching: false,
    ...more,
  });

  it("say what was found where, and that nothing was once all answered", () => {
    const heads = (worded: boolean, ...args: Parameters<typeof rows>): string[] =>
      resultRows(worded, rows(...args)).flatMap((line) => (line.kind === "head" ? [line.about] : []));
    expect(heads(true, [info("a")], [hit("a"), hit("b")])).toEqual(["titles", "messages"]);
    expect(heads(false, [info("a")], [])).toEqual(["found"]);
    expect(heads(true, [], [hit("a")])).toEqual(["messages"]);
    expect(heads(true, [], [])).toEqual(["nothing"]);
    expect(heads(true, [], [], { searching: true })).toEqual([]);
    expect(heads(true, [info("a")], [], { searching: true })).toEqual(["titles"]);
    // A session may appear in both lists under different keys.
    const keys = resultRows(true, rows([info("a")], [hit("a")])).map((line) => line.key);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("say in the end that not all of it is shown", () => {
    const lines = resultRows(true, rows([info("a")], [hit("a"), hit("b")], { cut: true }));
    expect(lines.at(-1)).toEqual({ kind: "cut", key: "cut", shown: 2 });
    expect(resultRows(true, rows([], [hit("a")])).at(-1)?.kind).toBe("hit");
  });
});

describe("marks", () => {
  it.each([
    ["a heron", [{ start: 2, end: 7 }], ["a ", "*heron"]],
    ["🐙 heron", [{ start: 3, end: 8 }], ["🐙 ", "*heron"]],
    [
      "heron heron",
      [
        { start: 0, end: 5 },
        { start: 6, end: 11 },
      ],
      ["*heron", " ", "*heron"],
    ],
    ["plain", [], ["plain"]],
    // Ranges that do not fit the text mark nothing rather than the wrong part.
    [
      "short",
      [
        { start: 2, end: 99 },
        { start: 4, end: 2 },
      ],
      ["short"],
    ],
    ["", [], []],
  ])("cut %s", (text, marks, expected) => {
    const parts = marked(text, marks);
    expect(parts.map((part) => (part.hit ? `*${part.text}` : part.text))).toEqual(expected);
    expect(parts.map((part) => part.text).join("")).toBe(text);
  });
});

describe("days", () => {
  it("begin at midnight and come back as they were written", () => {
    const day = dayOf("2026-11-22", 0);
    expect(day).toBe(new Date(2026, 10, 22).getTime());
    expect(dayText(day ?? 0)).toBe("2026-11-22");
    expect(dayText((dayOf("2026-02-28", 1) ?? 0) - 1)).toBe("2026-02-28");
    expect(dayOf("2026-12-31", 1)).toBe(new Date(2027, 0, 1).getTime());
    expect([undefined, "", "yesterday", "22.11.2026"].map((text) => dayOf(text, 0))).toEqual(Array(4).fill(undefined));
  });
});
