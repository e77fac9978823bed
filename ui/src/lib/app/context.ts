/** What the parts of a transcript need to know about the session they belong to. */
import { getContext, setContext } from "svelte";
import type { Conversation } from "./conversation.svelte";

const key = Symbol("conversation");

/** Makes the conversation known to everything below. */
export function provideConversation(conversation: () => Conversation): void {
  setContext(key, conversation);
}

/** The conversation this is part of. */
export function conversation(): Conversation {
  return getContext<() => Conversation>(key)();
}

/** The conversation this is part of; null in what is shown outside of a session too. */
export function sessionAround(): Conversation | null {
  return getContext<(() => Conversation) | undefined>(key)?.() ?? null;
}
