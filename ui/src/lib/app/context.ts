/** The session context of a transcript's components. */
import { getContext, setContext } from "svelte";
import type { Conversation } from "./conversation.svelte";

const key = Symbol("conversation");

/** Provides the conversation to all descendants. */
export function provideConversation(conversation: () => Conversation): void {
  setContext(key, conversation);
}

/** Returns the conversation of this component. */
export function conversation(): Conversation {
  return getContext<() => Conversation>(key)();
}

/** Returns the conversation of this component; null if it is used outside a session. */
export function optionalConversation(): Conversation | null {
  return getContext<(() => Conversation) | undefined>(key)?.() ?? null;
}
