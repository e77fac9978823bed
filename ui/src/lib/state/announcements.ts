/** Newly finished text worth announcing. Pure. */
import type { Message } from "$lib/ipc/types";

/** A finished text of an answer. */
export interface FinishedText {
  readonly key: string;
  readonly text: string;
}

/** A position in a transcript: its last message and that message's number of blocks. */
export interface TranscriptPosition {
  readonly message: string | null;
  readonly blocks: number;
}

/** Returns the current end of a transcript. */
export function endOf(messages: readonly Message[]): TranscriptPosition {
  const last = messages.at(-1);
  return { message: last?.id ?? null, blocks: last?.blocks.length ?? 0 };
}

/**
 * Returns the answer texts finished since a position, oldest first. Newly loaded earlier pages yield nothing, nor does
 * a transcript that moved elsewhere and no longer contains the position.
 */
export function finishedSince(position: TranscriptPosition, messages: readonly Message[]): readonly FinishedText[] {
  const at = position.message === null ? -1 : messages.findLastIndex((message) => message.id === position.message);
  if (at < 0 && position.message !== null) return [];
  return messages.slice(Math.max(0, at)).flatMap((message, place) => {
    if (message.role !== "assistant") return [];
    const from = at >= 0 && place === 0 ? position.blocks : 0;
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
export function truncateForSpeech(text: string): string {
  if (text.length <= SAID) return text;
  const cut = text.lastIndexOf(" ", SAID);
  const end = cut > SAID / 2 ? cut : SAID;
  // Never splits a surrogate pair.
  const whole = /[\uD800-\uDBFF]/.test(text.charAt(end - 1)) ? end - 1 : end;
  return `${text.slice(0, whole)} …`;
}
