/** What was finished meanwhile and is worth saying aloud. Pure. */
import type { Message } from "$lib/ipc/types";

/** A finished text of an answer. */
export interface Finished {
  readonly key: string;
  readonly text: string;
}

/** How far a transcript was: its last message and how many blocks that had. */
export interface Heard {
  readonly message: string | null;
  readonly blocks: number;
}

/** How far a transcript is. */
export function heardAll(messages: readonly Message[]): Heard {
  const last = messages.at(-1);
  return { message: last?.id ?? null, blocks: last?.blocks.length ?? 0 };
}

/**
 * The texts of answers that are whole and were not before, oldest first. Earlier pages that were loaded say nothing, and
 * neither does a transcript that goes on elsewhere: what was heard last is not in it.
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

/** So much of an answer is said, in UTF-16 units: some three minutes. Whoever wants more reads on in the transcript. */
const SAID = 2_400;

/** A text as far as it is said, whole words of it. */
export function asSaid(text: string): string {
  if (text.length <= SAID) return text;
  const cut = text.lastIndexOf(" ", SAID);
  const end = cut > SAID / 2 ? cut : SAID;
  // Never between the halves of one sign.
  const whole = /[\uD800-\uDBFF]/.test(text.charAt(end - 1)) ? end - 1 : end;
  return `${text.slice(0, whole)} …`;
}
