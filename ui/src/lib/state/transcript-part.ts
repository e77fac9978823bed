/** A part of a conversation loaded apart from its end. Pure. */
import type { CallView, Message, TranscriptPage, TurnView } from "$lib/ipc/types";

/** Consecutive messages with the turns and calls they mention. */
export interface Part {
  readonly messages: readonly Message[];
  readonly turns: readonly TurnView[];
  readonly calls: ReadonlyMap<string, CallView>;
  readonly earlier: boolean;
}

/** Returns a page as a part. */
export function partOf(page: TranscriptPage): Part {
  return { ...page, calls: new Map(page.calls.map((call) => [call.id, call])) };
}

/** Returns a part extended by the page before it. */
export function before(part: Part, page: TranscriptPage): Part {
  return { ...joinParts(partOf(page), part), earlier: page.earlier };
}

/** Returns a part extended by the page after it. */
export function after(part: Part, page: TranscriptPage): Part {
  return { ...joinParts(part, partOf(page)), earlier: part.earlier };
}

function joinParts(first: Part, second: Part): Omit<Part, "earlier"> {
  const ids = new Set(first.messages.map((message) => message.id));
  const turns = new Map([...first.turns, ...second.turns].map((turn) => [turn.id, turn]));
  return {
    messages: [...first.messages, ...second.messages.filter((message) => !ids.has(message.id))],
    turns: [...turns.values()],
    calls: new Map([...first.calls, ...second.calls]),
  };
}
