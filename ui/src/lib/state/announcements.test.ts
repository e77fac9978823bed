import type { Message } from "$lib/ipc/types";
import { describe, expect, it } from "vitest";
import { truncateForSpeech, finishedSince, endOf } from "./announcements";

const message = (id: string, role: Message["role"], ...texts: (string | undefined)[]): Message => ({
  id,
  turn: "t",
  role,
  blocks: texts.map((text) => (text === undefined ? undefined : { type: "text", text })) as Message["blocks"],
  meta: { origin: role === "user" ? "person" : "model", at: 0 },
});
const texts = (...args: Parameters<typeof finishedSince>) => finishedSince(...args).map(({ text }) => text);

describe("the announced text", () => {
  const before = [message("1", "user", "Do it"), message("2", "assistant", "First.")];

  it("is each answer's text once it is complete", () => {
    const position = endOf(before);
    expect(texts(position, before)).toEqual([]);
    const streamed = [before[0], message("2", "assistant", "First.", "Second.")].filter(
      (message) => message !== undefined,
    );
    expect(texts(position, streamed)).toEqual(["Second."]);
    expect(
      texts(endOf(streamed), [...streamed, message("3", "user", "And?"), message("4", "assistant", "Third.")]),
    ).toEqual(["Third."]);
  });

  it("excludes earlier pages, the person's messages and messages without text", () => {
    expect(texts(endOf(before), [message("0", "assistant", "Long ago."), ...before])).toEqual([]);
    expect(texts(endOf(before), [...before, message("3", "user", "Mine")])).toEqual([]);
    expect(texts(endOf(before), [...before, message("3", "assistant", undefined, "Later.")])).toEqual(["Later."]);
  });

  it("is everything after an empty session, and nothing if the last message is gone", () => {
    expect(texts(endOf([]), before)).toEqual(["First."]);
    expect(texts({ message: "gone", blocks: 0 }, before)).toEqual([]);
  });

  it("ends at a word", () => {
    const text = truncateForSpeech("word ".repeat(1_000));
    expect(text.length).toBeLessThan(2_410);
    expect(text.endsWith("word …")).toBe(true);
    expect(truncateForSpeech("short")).toBe("short");
    expect(truncateForSpeech(`x${"𠮷".repeat(2_000)}`)).toMatch(/^x𠮷+ …$/u);
  });
});
