/** Who started a session, and how it stands, in words and marks. */
import type { IconName } from "$lib/icons";
import type { SessionMark, SessionOrigin, Source } from "$lib/ipc/types";
import { lookUp, t, type WordKey } from "$lib/words/words.svelte";

/** The mark of a session the person did not start themselves; null for one of theirs. */
export function sourceIcon(source: Source): IconName | null {
  const icons: Partial<Record<Source, IconName>> = { demo: "play", headless: "terminal", task: "clock", chat: "chat" };
  return icons[source] ?? null;
}

/** Who started a session. */
export function sourceName(source: Source): string {
  return lookUp(`session.source.${source}`) ?? source;
}

/** Who can have started a session of the list. */
export const SOURCES: readonly Source[] = ["window", "chat", "headless", "task", "demo"];

/** How sessions can stand, with the words for it. */
export const MARKS: readonly (readonly [SessionMark, WordKey])[] = [
  ["waiting", "session.status.waiting"],
  ["running", "session.status.running"],
  ["failed", "session.status.failed"],
  ["unread", "session.status.unread"],
];

/** Where a session's conversation comes from. */
export function originWords(origin: SessionOrigin): string {
  if (origin.type === "file") return t("session.imported", { name: origin.name });
  const title = origin.title || t("session.untitled");
  return t(origin.session === null ? "session.branched_gone" : "session.branched", { title });
}
