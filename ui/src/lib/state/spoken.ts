/** Newly finished text worth announcing. Pure. */
import type { Message } from "$lib/ipc/types";

/** A finished text of an answer. */
export interface Finished {
  readonly key: string;
  readonly text: string;
}

/** A position in a transcript: its last message and that message's number of blocks. */
export interface Heard {
  readonly message: string | null;
  readonly blocks: number;
}

/** Returns the current end of a transcript. */
export function heardAll(messages: readonly Message[]): Heard {
  const last = messages.at(-1);
  return { message: last?.id ?? null, blocks: last?.blocks.length ?? 0 };
}

/**
 * Returns the answer texts finished since a position, oldest first. Newly loaded earlier pages yield nothing, nor does
 * a transcript that moved elsewhere and no longer contains the position.
 */
export function finishedSince(heard: Heard, messages: readonly Message[]): readonly Finished[] {
  const at = heard.message === null ? -1 : messages.findLastIndex((message) => message.id === heard.message);
  if (at < 0 && heard.message !== null) return [];
  return messages.slice(Math.max(0, at)).flatMap((message, place) => {
    if (message.role !== "assistant") return [];
    const from = at >= 0 && place === 0 ? heard.blocks : 0;
    return message.blocks.flatMap((block, index) =>
      // A block may be missing while an earlier one of its message still streams.
      index >= from && block?.type === "text" && block.text.trim() !== ""
        ? [{ key: `${message.id}:${index}`, text: block.text }]
        : [],
    );
  });
}

/** How much of an answer is announced, in UTF-16 units: about three minutes. The rest can be read in the transcript. */
const SAID = 2_400;

/** Truncates a text to the announced length, at a word boundary. */
export function asSaid(text: string): string {
  if (text.length <= SAID) return text;
  const cut = text.lastIndexOf(" ", SAID);
  const end = cut > SAID / 2 ? cut : SAID;
  // Never splits a surrogate pair.
  const whole = /[\uD800-\uDBFF]/.test(text.charAt(end - 1)) ? end - 1 : end;
  return `${text.slice(0, whole)} …`;
}
