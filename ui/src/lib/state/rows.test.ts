import type { BackgroundCommand, Block, CallView, Message, TurnView } from "$lib/ipc/types";
import { describe, expect, it } from "vitest";
import { type RowSource, rowsOf } from "./rows";

const usage = { input: 10, cache_read: 80, cache_write: 10, output: 5 };
const turn = (id: string, end: TurnView["end"] = { type: "finished" }): TurnView => ({
  id,
  started_at: 1000,
  ended_at: end ? 3000 : null,
  end,
  usage,
});
const message = (id: string, turn: string, blocks: Block[], origin: Message["meta"]["origin"] = "model"): Message => ({
  id,
  turn,
  role: origin === "model" ? "assistant" : "user",
  blocks,
  meta: { origin, at: 1 },
});
const tool = (id: string): Block => ({ type: "tool_call", id, provider_id: id, name: "edit", arguments: "{}" });
const done = (id: string, status: "done" | "failed" = "done", view: CallView["view"] = null): CallView => ({
  id,
  turn: "t1",
  tool: "edit",
  state: { type: "ended", status, at: 1, duration_ms: 1 },
  view,
});
const source = (part: Partial<RowSource>): RowSource => ({
  messages: [],
  turns: [],
  calls: new Map(),
  questions: [],
  notes: [],
  streaming: [],
  earlier: false,
  ...part,
});

describe("rowsOf", () => {
  it("shows new skills and no other notice to the model", () => {
    const notice = (kind: "new_skills" | "context", text: string): Block => ({ type: "notice", kind, text });
    const blocks: Block[] = [
      notice("context", "Today is Friday"),
      notice("new_skills", "- review: reviews"),
      { type: "text", text: "go on" },
    ];
    const rows = rowsOf(source({ messages: [message("u", "t1", blocks, "person")], turns: [turn("t1", null)] }));
    expect(rows.map((row) => row.kind)).toEqual(["user", "new_skills"]);
    expect(rows[0]?.kind === "user" && rows[0].blocks).toEqual([{ type: "text", text: "go on" }]);
    expect(rows[1]?.kind === "new_skills" && rows[1].text).toBe("- review: reviews");
    expect(new Set(rows.map((row) => row.key)).size).toBe(rows.length);
  });

  it("shows ended background commands, which may start a turn", () => {
    const endedCommand: BackgroundCommand = {
      handle: "h1",
      call: "c1",
      command: "npm test",
      cwd: "/x",
      started_at: 1,
      ended_at: 2,
      state: { type: "exited", code: 1 },
      log: null,
      last_line: "1 failed",
    };
    const endNotice: Block = { type: "commands_ended", commands: [endedCommand], text: "[SYSTEM NOTIFICATION] <x>" };
    const rows = rowsOf(
      source({
        messages: [
          message("u", "t1", [{ type: "text", text: "Test it" }], "person"),
          message("n1", "t1", [endNotice], "octo"),
          message("m1", "t1", [{ type: "text", text: "It runs" }]),
          message("n2", "t2", [endNotice], "octo"),
          message("m2", "t2", [{ type: "text", text: "It failed" }]),
        ],
        turns: [turn("t1"), turn("t2")],
      }),
    );
    expect(rows.map((row) => [row.kind, row.first])).toEqual([
      ["user", true],
      ["ended", false],
      ["text", false],
      ["end", false],
      ["ended", true],
      ["text", false],
      ["end", false],
    ]);
    // Neither shown as the person's message nor in the words the model reads.
    expect(JSON.stringify(rows)).not.toContain("SYSTEM NOTIFICATION");
  });

  it("groups consecutive calls into one card, across messages", () => {
    const rows = rowsOf(
      source({
        messages: [
          message("u", "t1", [{ type: "text", text: "Do it" }], "person"),
          message("m1", "t1", [tool("c1"), tool("c2")]),
          message(
            "r1",
            "t1",
            [{ type: "tool_result", call: "c1", provider_id: "c1", status: "done", text: "", images: [] }],
            "octo",
          ),
          message("m2", "t1", [tool("c3"), { type: "text", text: "Done" }]),
        ],
        turns: [turn("t1")],
        calls: new Map([done("c1"), done("c2"), done("c3")].map((call) => [call.id, call])),
      }),
    );
    expect(rows.map((row) => row.kind)).toEqual(["user", "steps", "text", "end"]);
    const [, steps, , end] = rows;
    expect(steps?.kind === "steps" && steps.steps.map((step) => step.call?.id)).toEqual(["c1", "c2", "c3"]);
    expect(end?.kind === "end" && end.figures).toEqual({ steps: 3, milliseconds: 2000, tokens: 105, cached: 0.8 });
  });

  it("knows whether a row's turn is over", () => {
    const rows = rowsOf(
      source({
        messages: [
          message("m1", "t1", [tool("c1"), { type: "text", text: "Done" }]),
          message("m2", "t2", [tool("c2")]),
        ],
        turns: [turn("t1"), turn("t2", null)],
      }),
    );
    const steps = rows.filter((row) => row.kind === "steps");
    expect(steps.map((row) => row.over)).toEqual([true, false]);
    expect(rows.filter((row) => row.kind === "end").map((row) => row.over)).toEqual([true]);
  });

  it("hides notices, empty texts and additions by Octo", () => {
    const rows = rowsOf(
      source({
        messages: [
          message("u", "t1", [{ type: "notice", kind: "context", text: "date" }], "person"),
          message("o", "t1", [{ type: "notice", kind: "todos", text: "open" }], "octo"),
          message("m", "t1", [
            { type: "reasoning", text: " " },
            { type: "text", text: "\n" },
          ]),
        ],
        turns: [turn("t1", null)],
      }),
    );
    expect(rows).toEqual([]);
  });

  it("keeps a block's key when its stream completes", () => {
    const streaming = [{ message: "m", block: 0, kind: { type: "text" } as const, start: 0, text: "Ha", bytes: 2 }];
    const live = rowsOf(source({ messages: [message("m", "t1", [])], turns: [turn("t1", null)], streaming }));
    const whole = rowsOf(
      source({ messages: [message("m", "t1", [{ type: "text", text: "Hallo" }])], turns: [turn("t1", null)] }),
    );
    expect(live.map((row) => row.key)).toEqual(whole.map((row) => row.key));
    expect(live[0]?.kind === "text" && live[0].streaming).toBe(true);
  });

  it("shows the result of a failed call without a card, not of a successful one", () => {
    const results: Block[] = ["c1", "c2"].map((call) => ({
      type: "tool_result",
      call,
      provider_id: call,
      status: "failed",
      text: `result of ${call}`,
      images: [],
    }));
    const diff: CallView["view"] = {
      type: "diff",
      path: "/x",
      change: "edited",
      added: 1,
      removed: 0,
      hunks: [],
      truncated: false,
    };
    const rows = rowsOf(
      source({
        messages: [message("m", "t1", [tool("c1"), tool("c2")]), message("r", "t1", results, "octo")],
        calls: new Map([done("c1", "failed"), done("c2", "done", diff)].map((call) => [call.id, call])),
      }),
    );
    const [steps] = rows;
    expect(steps?.kind === "steps" && steps.steps.map((step) => step.result)).toEqual(["result of c1", null]);
  });

  it("offers a retry only for the newest turn", () => {
    const error = { key: "provider.auth", args: {}, retryable: false };
    const rows = rowsOf(
      source({
        messages: [
          message("u1", "t1", [{ type: "text", text: "a" }], "person"),
          message("u2", "t2", [{ type: "text", text: "b" }], "person"),
        ],
        turns: [turn("t1", { type: "failed", error }), turn("t2", { type: "failed", error })],
      }),
    );
    expect(rows.flatMap((row) => (row.kind === "error" ? [row.canRetry] : []))).toEqual([false, true]);
  });

  it("shows an asking call only as its card", () => {
    const call: CallView = { id: "c1", turn: "t1", tool: "edit", state: { type: "asking" }, view: null };
    const rows = rowsOf(
      source({
        messages: [message("m", "t1", [tool("c1")])],
        turns: [turn("t1", null)],
        calls: new Map([["c1", call]]),
        questions: [
          {
            id: "q",
            call: "c1",
            tool: "edit",
            at: 1,
            ask: { type: "feedback", question: "?", context: null, options: [] },
          },
        ],
      }),
    );
    expect(rows.map((row) => row.kind)).toEqual(["ask"]);
  });

  describe("places command replies by their time", () => {
    const sentAt = (message: Message, time: number): Message => ({ ...message, meta: { ...message.meta, at: time } });
    const note = (time: number) =>
      ({ seq: time, at: time, kind: "answer", note: { key: `n${time}`, args: {}, retryable: false } }) as const;
    const person = (id: string, turn: string, time: number) =>
      sentAt(message(id, turn, [{ type: "text", text: id }], "person"), time);
    const kinds = (part: Partial<RowSource>) =>
      rowsOf(source(part)).map((row) => (row.kind === "note" ? row.note.key : row.kind));
    const messages = [
      person("u1", "t1", 1000),
      sentAt(message("m1", "t1", [{ type: "text", text: "answer" }]), 1100),
      person("u2", "t2", 5000),
    ];
    const turns = [turn("t1"), { ...turn("t2", null), started_at: 5000 }];

    it.each([
      { given: [500], shown: ["n500", "user", "text", "end", "user"] },
      { given: [1050], shown: ["user", "n1050", "text", "end", "user"] },
      { given: [1200], shown: ["user", "text", "n1200", "end", "user"] },
      { given: [3500, 4000], shown: ["user", "text", "end", "n3500", "n4000", "user"] },
      { given: [6000], shown: ["user", "text", "end", "user", "n6000"] },
    ])("$given", ({ given, shown }) => {
      expect(kinds({ messages, turns, notes: given.map(note) })).toEqual(shown);
    });

    it("keeps those of earlier pages until they are loaded", () => {
      expect(kinds({ messages, turns, notes: [note(500)], earlier: true })).toEqual(["user", "text", "end", "user"]);
    });

    it("shows them without any message", () => {
      expect(kinds({ notes: [note(1), note(2)] })).toEqual(["n1", "n2"]);
    });
  });

  it("shows a summary as one row, without the text only the model reads", () => {
    const blocks: Block[] = [
      { type: "notice", kind: "context", text: "Today" },
      { type: "summary", text: "What was done", covers: 214, archive: "/home/mei/a.md" },
    ];
    const [row, ...otherRows] = rowsOf(source({ messages: [message("s", "t1", blocks, "octo")] }));
    expect(row).toMatchObject({ kind: "summary", text: "What was done", covers: 214, archive: "/home/mei/a.md" });
    expect(otherRows).toEqual([]);
  });
});
