// @vitest-environment jsdom
import { type Transport, useTransport } from "$lib/ipc";
import type { BilledCall, Request, TurnView } from "$lib/ipc/types";
import { beforeEach, describe, expect, it } from "vitest";
import { Conversation } from "./conversation.svelte";
import { toasts } from "./toasts.svelte";

const call: BilledCall = {
  turn: "t",
  message: null,
  purpose: "turn",
  model: null,
  name: "m",
  at: 1,
  usage: null,
  written_for_an_hour: 0,
  again: 0,
  again_cost: 0,
  cost: 70,
  first_byte_ms: null,
  total_ms: 1,
  outcome: "answered",
  expected_read: null,
  miss: null,
};
const turn: TurnView = {
  id: "t",
  started_at: 1,
  ended_at: 5,
  end: { type: "finished" },
  usage: { input: 0, cache_read: 0, cache_write: 0, output: 0 },
};

let calls: unknown[] = [];
let answer: (request: Request) => unknown = () => ({});
const transport: Transport = {
  request: (request) => {
    calls.push(request.call);
    return Promise.resolve().then(() => answer(request));
  },
  subscribe: () => Promise.resolve(() => undefined),
  onFileDrop: () => () => undefined,
  blobUrl: (hash) => hash,
};
const open = () => new Conversation("s", () => undefined);

beforeEach(() => {
  calls = [];
  toasts.list = [];
  useTransport(transport);
});

describe("the cost of a turn", () => {
  it("is read once, and again after the turn was retried", async () => {
    answer = () => ({ calls: [call, { ...call, cost: null }] });
    const session = open();
    expect(session.costOf(turn)).toBeNull();
    await Promise.all([session.readCost(turn), session.readCost(turn)]);
    expect(session.costOf(turn)).toMatchObject({ calls: 2, cost: 70, unpriced: 1 });
    expect(calls).toEqual([{ type: "calls_of_turn", session: "s", turn: "t" }]);
    const repeatedTurn = { ...turn, ended_at: 9 };
    expect(session.costOf(repeatedTurn)).toBeNull();
    await session.readCost(repeatedTurn);
    expect(calls.length).toBe(2);
  });

  it("is omitted if it cannot be read, and read when next in view", async () => {
    answer = () => Promise.reject({ key: "store.busy", args: {}, retryable: true });
    const session = open();
    await session.readCost(turn);
    expect([session.costOf(turn), toasts.list]).toEqual([null, []]);
    answer = () => ({ calls: [call] });
    await session.readCost(turn);
    expect(session.costOf(turn)?.calls).toBe(1);
  });
});

describe("the files changed by a turn", () => {
  const task = (number: number, turn: string | null, changed: number, ended_at: number | null) => ({
    number,
    turn,
    changed,
    ended_at,
  });

  it("are read once for all turns and unknown for a running one", async () => {
    answer = () => ({ tasks: [task(0, null, 0, 1), task(1, "t", 0, 2), task(2, "u", 3, 4), task(3, "v", 0, null)] });
    const session = open();
    expect(session.changedBy("t")).toBeNull();
    await Promise.all([session.readTasks(), session.readTasks()]);
    expect(["t", "u", "v"].map((turn) => session.changedBy(turn))).toEqual([0, 3, null]);
    expect(calls).toEqual([{ type: "get_task_tree", session: "s" }]);
  });

  it("are omitted if they cannot be read", async () => {
    answer = () => Promise.reject({ key: "store.busy", args: {}, retryable: true });
    const session = open();
    await session.readTasks();
    expect([session.changedBy("t"), toasts.list]).toEqual([null, []]);
    answer = () => ({ tasks: [task(1, "t", 2, 2)] });
    await session.readTasks();
    expect(session.changedBy("t")).toBe(2);
  });
});

describe("a model switch", () => {
  it("without an estimate says so instead of failing", async () => {
    answer = () => ({ tokens: 9, cost: null, instead: null });
    expect(await open().estimateSwitch("m")).toEqual({ tokens: 9, cost: null, instead: null });
    answer = () => Promise.reject({ key: "model.unknown", args: {}, retryable: false });
    expect(await open().estimateSwitch("m")).toBeNull();
  });
});

describe("a budget's answer", () => {
  it("that was not accepted reports it, so that the card can be answered again", async () => {
    answer = () => Promise.reject({ key: "budget.none", args: {}, retryable: false });
    expect(await open().answerBudget("more")).toBe(false);
    expect(toasts.list.length).toBe(1);
    expect(calls).toEqual([{ type: "answer_budget", session: "s", answer: "more" }]);
  });
});

describe("a question", () => {
  it("is answered once, and again only if the first answer failed", async () => {
    const session = open();
    let isFailing = true;
    answer = () => {
      if (isFailing) throw { key: "store.full", args: {}, retryable: true };
      return {};
    };
    const yes = { type: "once" } as const;
    expect(await Promise.all([session.answer("q", yes), session.answer("q", yes)])).toEqual([false, true]);
    isFailing = false;
    expect(await session.answer("q", yes)).toBe(true);
    expect(await session.answer("q", { type: "no", reason: null })).toBe(true);
    expect(await session.answer("r", yes)).toBe(true);
    expect(calls.map((call) => (call as { question: string }).question)).toEqual(["q", "q", "r"]);
  });
});
