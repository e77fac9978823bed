/** A session's source and status, as text and icons. */
import type { IconName } from "$lib/icons";
import type { SessionMark, SessionOrigin, Source } from "$lib/ipc/types";
import { lookUp, t, type WordKey } from "$lib/words/words.svelte";

/** Returns the icon of a session the person did not start; null for their own. */
export function sourceIcon(source: Source): IconName | null {
  const icons: Partial<Record<Source, IconName>> = { demo: "play", headless: "terminal", task: "clock", chat: "chat" };
  return icons[source] ?? null;
}

/** Names who started a session. */
export function sourceName(source: Source): string {
  return lookUp(`session.source.${source}`) ?? source;
}

/** The possible sources of listed sessions. */
export const SOURCES: readonly Source[] = ["window", "chat", "headless", "task", "demo"];

/** The possible marks of sessions, with their words. */
export const MARKS: readonly (readonly [SessionMark, WordKey])[] = [
  ["waiting", "session.status.waiting"],
  ["running", "session.status.running"],
  ["failed", "session.status.failed"],
  ["unread", "session.status.unread"],
];

/** Describes where a session's conversation came from. */
export function originWords(origin: SessionOrigin): string {
  if (origin.type === "file") return t("session.imported", { name: origin.name });
  const title = origin.title || t("session.untitled");
  return t(origin.session === null ? "session.branched_gone" : "session.branched", { title });
}
