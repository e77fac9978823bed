/** What was typed and attached and not sent, per session. The core keeps it, so that it is there after a restart. */
import { asApiError, call } from "$lib/ipc";
import type { Draft as KeptDraft, Message } from "$lib/ipc/types";
import { commanded } from "$lib/state/skills";
import { type Attachment, isAttachment } from "./attachments";
import { toasts } from "./toasts.svelte";

/** How long typing must pause before the draft is kept, in milliseconds. */
const PAUSE = 400;

/** How long what another window writes as it is left may take, in milliseconds. */
const SETTLES = 150;

/** What was taken to be sent. */
export interface Taken {
  text: string;
  attachments: readonly Attachment[];
  foreign: boolean;
}

export class Draft {
  text = $state("");
  attachments = $state.raw<readonly Attachment[]>([]);
  /** What the core has, as JSON; null until that is known. */
  #kept: string | null = null;
  /** How many times it is being kept at this moment: what the core has is older then. */
  #keeping = 0;
  /** The command that heads it once what the core kept is there. */
  #command: string | null = null;
  /** What is brought once what the core kept is there. */
  #brought: { text: string; foreign: boolean } | null = null;
  /**
   * Whether somebody else wrote a part of it, or of what stood in its place since it was last sent: the person is told
   * to read it, as long as there is a text. An emptied one comes back with a key or from the clipboard.
   */
  foreign = $state(false);
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    /** The session; null for one that is not started yet. */
    readonly session: string | null,
  ) {}

  /** Takes what the core kept, once. What was typed meanwhile comes after it. */
  begin(kept: KeptDraft): void {
    const typed = { text: this.text, attachments: this.attachments };
    this.#read(kept);
    this.text += typed.text;
    this.attachments = [...this.attachments, ...typed.attachments];
    if (this.#command !== null) this.head(this.#command);
    if (this.#brought !== null) this.bring(this.#brought.text, this.#brought.foreign);
  }

  /** Puts a text after what was typed; `foreign` when somebody else wrote it. Nothing is sent by that. */
  bring(text: string, foreign: boolean): void {
    this.#brought = this.#kept === null ? { text, foreign } : null;
    if (this.#kept === null || text === "") return;
    this.text = [this.text, text].filter((part) => part.trim() !== "").join("\n\n");
    this.foreign ||= foreign;
    this.changed();
  }

  /** Puts a command before what was typed; another one that stands there goes. */
  head(command: string): void {
    this.#command = this.#kept === null ? command : null;
    if (this.#kept === null) return;
    this.text = commanded(command, this.text);
    this.changed();
  }

  /** Notes that it changed. */
  changed(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.flush(), PAUSE);
  }

  /** Attaches what is not attached yet. */
  attach(more: readonly Attachment[]): void {
    // eslint-disable-next-line svelte/prefer-svelte-reactivity
    const known = new Set(this.attachments.map(identity));
    this.attachments = [
      ...this.attachments,
      ...more.filter((attachment) => !known.has(identity(attachment)) && known.add(identity(attachment))),
    ];
    this.changed();
  }

  /** Takes away the attachment at a place. */
  detach(at: number): void {
    this.attachments = this.attachments.filter((_, place) => place !== at);
    this.changed();
  }

  /** Empties it for sending; what was in it. The core keeps it until it is [`flush`]ed or brought back. */
  take(): Taken {
    clearTimeout(this.#timer);
    const { text, attachments, foreign } = this;
    this.text = "";
    this.attachments = [];
    this.foreign = false;
    return { text, attachments, foreign };
  }

  /** Brings back what could not be sent, before what was typed meanwhile. */
  restore(taken: Taken): void {
    this.text = [taken.text, this.text].filter((text) => text !== "").join("\n");
    this.foreign ||= taken.foreign;
    const typed = this.attachments;
    this.attachments = taken.attachments;
    this.attach(typed);
  }

  /** Another window sent it, as the core kept it: then it is not there to be sent again. */
  sentElsewhere(text: string): void {
    if (text === "" || this.text !== text || this.#kept !== this.#now) return;
    this.take();
    this.#kept = this.#now;
  }

  get #now(): string {
    return JSON.stringify(this.#draft);
  }

  /** Of an empty text nothing is foreign: after a restart nothing brings back what stood there. */
  get #draft(): KeptDraft {
    const foreign = this.foreign && this.text.trim() !== "";
    return { text: this.text, attachments: [...this.attachments], foreign };
  }

  /** Is what the core kept. A field forgets what can be undone in it with another text, and not with the same one. */
  #read(kept: KeptDraft): void {
    this.foreign = kept.foreign || (this.foreign && this.text === kept.text);
    this.text = kept.text;
    this.attachments = kept.attachments.filter(isAttachment);
    this.#kept = this.#now;
  }

  /** Takes what another window made of it, unless something was written here that the core does not have yet. */
  async refresh(): Promise<void> {
    const { session } = this;
    const before = this.#kept;
    if (before === null || this.#keeping > 0 || before !== this.#now) return;
    const kept = await (session === null
      ? call("sessions", "get_new_draft", {})
      : call("sessions", "get_draft", { session }));
    if (this.#kept !== before || before !== this.#now) return;
    this.#read(kept);
  }

  /** Has the core keep it now. */
  flush(): void {
    clearTimeout(this.#timer);
    const { session } = this;
    const next = this.#now;
    if (this.#kept === null || next === this.#kept) return;
    const before = this.#kept;
    this.#kept = next;
    const draft = this.#draft;
    const keeping =
      session === null
        ? call("sessions", "set_new_draft", { draft })
        : call("sessions", "set_draft", { session, draft });
    this.#keeping += 1;
    void keeping
      .finally(() => (this.#keeping -= 1))
      .catch((thrown: unknown) => {
        // Tried again with the next change.
        if (this.#kept === next) this.#kept = before;
        // A session that was deleted has taken its draft along.
        if (drafts.get(session) === this) toasts.fail(asApiError(thrown));
      });
  }
}

function identity(attachment: Attachment): string {
  return attachment.type === "image" ? `image ${attachment.blob}` : `file ${attachment.path}`;
}

// Not reactive: each draft is.
// eslint-disable-next-line svelte/prefer-svelte-reactivity
const drafts = new Map<string | null, Draft>();

/** The draft of a session; the same one as long as the window lives. */
export function draftOf(session: string, kept: () => KeptDraft): Draft {
  const known = drafts.get(session);
  if (known) return known;
  const draft = new Draft(session);
  draft.begin(kept());
  drafts.set(session, draft);
  return draft;
}

/** A message was added to a session, by this window or another: what was sent is no draft any more. */
export function sentElsewhere(session: string, { role, blocks }: Message): void {
  const [block] = blocks;
  if (role === "user" && block?.type === "text") drafts.get(session)?.sentElsewhere(block.text);
}

/** The draft of the session that is not started yet. */
export function newDraft(): Draft {
  const known = drafts.get(null);
  if (known) return known;
  const draft = new Draft(null);
  drafts.set(null, draft);
  call("sessions", "get_new_draft", {}).then(
    (kept) => draft.begin(kept),
    (error: unknown) => toasts.fail(error),
  );
  return draft;
}

/** Lets go of a deleted session's draft: it went to the trash with the session and comes back with it. */
export function forgetDraft(session: string): void {
  drafts.get(session)?.flush();
  drafts.delete(session);
}

/** The person came to this window: what they wrote in another one is in its fields. */
export function refreshDrafts(): void {
  // The other window keeps it as it is left. What cannot be read is as it was.
  const read = () => drafts.forEach((draft) => void draft.refresh().catch(() => undefined));
  setTimeout(read, SETTLES);
}

/** Keeps every draft now: the window loses the focus or closes. */
export function flushDrafts(): void {
  for (const draft of drafts.values()) draft.flush();
}
