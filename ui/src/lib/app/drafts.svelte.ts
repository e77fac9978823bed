/** What was typed and not sent, per session. The core keeps the text, so that it is there after a restart. */
import { call } from "$lib/ipc";
import type { Attachment } from "./attachments";
import { toasts } from "./toasts.svelte";

/** How long typing must pause before the text is kept, in milliseconds. */
const PAUSE = 400;

export class Draft {
  text = $state("");
  attachments = $state.raw<readonly Attachment[]>([]);
  #kept = "";
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    /** The session; null for one that is not started yet, whose draft lives as long as the window. */
    readonly session: string | null,
  ) {}

  /** Takes the text the core kept, once. */
  begin(kept: string): void {
    this.text = this.#kept = kept;
  }

  /** Notes that the text changed. */
  changed(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.flush(), PAUSE);
  }

  /** Has the core keep the text now. */
  flush(): void {
    clearTimeout(this.#timer);
    const { session, text } = this;
    if (session === null || text === this.#kept) return;
    this.#kept = text;
    call("sessions", "set_draft", { session, text }).catch((error: unknown) => toasts.fail(error));
  }

  /** Empties it; the core forgets the text with the message that was sent. */
  clear(): void {
    this.text = "";
    this.attachments = [];
    this.flush();
  }
}

// Not reactive: each draft is.
// eslint-disable-next-line svelte/prefer-svelte-reactivity
const drafts = new Map<string | null, Draft>();

/** The draft of a session; the same one as long as the window lives. */
export function draftOf(session: string | null, kept: () => string): Draft {
  const known = drafts.get(session);
  if (known) return known;
  const draft = new Draft(session);
  draft.begin(kept());
  drafts.set(session, draft);
  return draft;
}

/** Keeps every draft now: the window loses the focus or closes. */
export function flushDrafts(): void {
  for (const draft of drafts.values()) draft.flush();
}
