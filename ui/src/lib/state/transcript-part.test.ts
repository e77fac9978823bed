import type { Message, TranscriptPage, TurnView } from "$lib/ipc/types";
import { describe, expect, it } from "vitest";
import { after, before, partOf } from "./transcript-part";

const message = (n: number): Message => ({
  id: `m${n}`,
  turn: `t${Math.floor(n / 2)}`,
  role: "user",
  blocks: [{ type: "text", text: String(n) }],
  meta: { origin: "person", at: n },
});
const turn = (n: number): TurnView => ({
  id: `t${n}`,
  started_at: n,
  ended_at: n,
  end: { type: "finished" },
  usage: { input: 0, cache_read: 0, cache_write: 0, output: 0 },
});
function page(from: number, to: number, earlier: boolean): TranscriptPage {
  const messages = Array.from({ length: to - from }, (_, index) => message(from + index));
  const turns = [...new Set(messages.map((message) => message.turn))].map((id) => turn(Number(id.slice(1))));
  return { messages, turns, calls: [], earlier };
}

describe("a part of a conversation", () => {
  it("grows at both ends without duplicates, and knows whether more precedes it", () => {
    const middle = partOf(page(11, 15, true));
    const down = after(middle, page(14, 18, true));
    expect(down.messages.map((message) => message.id)).toEqual(["m11", "m12", "m13", "m14", "m15", "m16", "m17"]);
    expect(down.turns.map((turn) => turn.id)).toEqual(["t5", "t6", "t7", "t8"]);
    expect(down.earlier).toBe(true);
    const up = before(down, page(0, 11, false));
    expect(up.messages).toHaveLength(18);
    expect(up.messages.map((message) => message.meta.at)).toEqual(Array.from({ length: 18 }, (_, index) => index));
    expect(up.earlier).toBe(false);
  });
});
