/** Rules of the page of memories. Pure. */

/** The most characters of a memory's body that are meant to be kept: `MEMORY_BODY` of the protocol. */
export const MEMORY_BODY = 4_000;
/** The most characters of SOUL.md and USER.md that reach the model: `PERSONA_SHOWN` of the protocol. */
export const PERSONA_SHOWN = 1_000;

/** What a memory says. */
export interface MemoryText {
  readonly topic: string;
  readonly description: string;
  readonly body: string;
}

/** Whether two memories say the same; how a line ends and empty lines at the end are no difference. */
export function same(a: MemoryText, b: MemoryText): boolean {
  const bare = (text: string): string => text.replace(/\r\n/g, "\n").trimEnd();
  return (
    a.topic.trim() === b.topic.trim() && a.description.trim() === b.description.trim() && bare(a.body) === bare(b.body)
  );
}

/** How many characters a text has, as Rust counts them. */
export function characters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Whether a memory says enough to be written. A body that is too long is refused, or shortened, by the core. */
export function isComplete(text: MemoryText): boolean {
  return text.topic.trim() !== "" && text.body.trim() !== "";
}
