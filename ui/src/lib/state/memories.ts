/** Rules of the memories page. Pure. */

/** The intended maximum length of a memory's body, in characters: `MEMORY_BODY` of the protocol. */
export const MEMORY_BODY = 4_000;
/** How much of SOUL.md and USER.md reaches the model, in characters: `PERSONA_SHOWN` of the protocol. */
export const PERSONA_SHOWN = 1_000;

/** The text of a memory. */
export interface MemoryText {
  readonly topic: string;
  readonly description: string;
  readonly body: string;
}

/** Returns whether two memories are equal, ignoring line endings and trailing empty lines. */
export function same(a: MemoryText, b: MemoryText): boolean {
  const bare = (text: string): string => text.replace(/\r\n/g, "\n").trimEnd();
  return (
    a.topic.trim() === b.topic.trim() && a.description.trim() === b.description.trim() && bare(a.body) === bare(b.body)
  );
}

/** Returns the number of characters of a text, counted like Rust. */
export function characters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Returns whether a memory is complete enough to save. The core rejects or shortens a body that is too long. */
export function isComplete(text: MemoryText): boolean {
  return text.topic.trim() !== "" && text.body.trim() !== "";
}
