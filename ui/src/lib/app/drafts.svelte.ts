/** Unsent text and attachments, per session. The core stores them, so that they survive a restart. */
import { asApiError, call } from "$lib/ipc";
import type { Draft as KeptDraft, Message } from "$lib/ipc/types";
import { withCommand } from "$lib/state/skills";
import { type Attachment, isAttachment } from "./attachments";
import { toasts } from "./toasts.svelte";

/** How long typing must pause before the draft is stored, in milliseconds. */
const PAUSE = 400;

/** How long another window may take to store its draft on losing focus, in milliseconds. */
const SETTLES = 150;

/** The content taken for sending. */
export interface SentDraft {
  text: string;
  attachments: readonly Attachment[];
  foreign: boolean;
}

export class Draft {
  text = $state("");
  attachments = $state.raw<readonly Attachment[]>([]);
  /** The core's version, as JSON; null until loaded. */
  #storedJson: string | null = null;
  /** The number of pending saves; the core's version is older while there are any. */
  #keeping = 0;
  /** The command to insert at the start once the core's draft is loaded. */
  #command: string | null = null;
  /** The text to append once the core's draft is loaded. */
  #pendingText: { text: string; foreign: boolean } | null = null;
  /**
   * Whether someone else wrote part of it, or of an earlier text since the last send: while there is text, the person
   * is asked to review it. A cleared text can return by undo or from the clipboard.
   */
  foreign = $state(false);
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    /** The session; null for one not started yet. */
    readonly session: string | null,
  ) {}

  /** Loads the core's draft, once. Text typed in the meantime is appended. */
  begin(storedDraft: KeptDraft): void {
    const draft = { text: this.text, attachments: this.attachments };
    this.#read(storedDraft);
    this.text += draft.text;
    this.attachments = [...this.attachments, ...draft.attachments];
    if (this.#command !== null) this.head(this.#command);
    if (this.#pendingText !== null) this.append(this.#pendingText.text, this.#pendingText.foreign);
  }

  /** Appends a text; `foreign` if someone else wrote it. Nothing is sent. */
  append(text: string, foreign: boolean): void {
    this.#pendingText = this.#storedJson === null ? { text, foreign } : null;
    if (this.#storedJson === null || text === "") return;
    this.text = [this.text, text].filter((part) => part.trim() !== "").join("\n\n");
    this.foreign ||= foreign;
    this.changed();
  }

  /** Inserts a command at the start, replacing an existing one. */
  head(command: string): void {
    this.#command = this.#storedJson === null ? command : null;
    if (this.#storedJson === null) return;
    this.text = withCommand(command, this.text);
    this.changed();
  }

  /** Records a change. */
  changed(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.flush(), PAUSE);
  }

  /** Adds attachments, without duplicates. */
  attach(more: readonly Attachment[]): void {
    // eslint-disable-next-line svelte/prefer-svelte-reactivity
    const present = new Set(this.attachments.map(identity));
    this.attachments = [
      ...this.attachments,
      ...more.filter((attachment) => !present.has(identity(attachment)) && present.add(identity(attachment))),
    ];
    this.changed();
  }

  /** Removes the attachment at an index. */
  detach(index: number): void {
    this.attachments = this.attachments.filter((_, position) => position !== index);
    this.changed();
  }

  /** Clears the draft for sending and returns its content. The core keeps it until [`flush`] or a restore. */
  take(): SentDraft {
    clearTimeout(this.#timer);
    const { text, attachments, foreign } = this;
    this.text = "";
    this.attachments = [];
    this.foreign = false;
    return { text, attachments, foreign };
  }

  /** Puts back content that could not be sent, before newer text. */
  restore(snapshot: SentDraft): void {
    this.text = [snapshot.text, this.text].filter((text) => text !== "").join("\n");
    this.foreign ||= snapshot.foreign;
    const attachments = this.attachments;
    this.attachments = snapshot.attachments;
    this.attach(attachments);
  }

  /** Clears the draft if another window sent it in the stored form, so that it is not sent twice. */
  sentElsewhere(text: string): void {
    if (text === "" || this.text !== text || this.#storedJson !== this.#now) return;
    this.take();
    this.#storedJson = this.#now;
  }

  get #now(): string {
    return JSON.stringify(this.#draft);
  }

  /** The draft to store. An empty text is never foreign: after a restart nothing brings the old text back. */
  get #draft(): KeptDraft {
    const foreign = this.foreign && this.text.trim() !== "";
    return { text: this.text, attachments: [...this.attachments], foreign };
  }

  /**
   * Adopts the core's draft. A text field drops its undo history when its text changes, but not when it is set to the
   * same text.
   */
  #read(storedDraft: KeptDraft): void {
    this.foreign = storedDraft.foreign || (this.foreign && this.text === storedDraft.text);
    this.text = storedDraft.text;
    this.attachments = storedDraft.attachments.filter(isAttachment);
    this.#storedJson = this.#now;
  }

  /** Loads another window's changes, unless this window has unsaved ones. */
  async refresh(): Promise<void> {
    const { session } = this;
    const before = this.#storedJson;
    if (before === null || this.#keeping > 0 || before !== this.#now) return;
    const storedDraft = await (session === null
      ? call("sessions", "get_new_draft", {})
      : call("sessions", "get_draft", { session }));
    if (this.#storedJson !== before || before !== this.#now) return;
    this.#read(storedDraft);
  }

  /** Stores it in the core now. */
  flush(): void {
    clearTimeout(this.#timer);
    const { session } = this;
    const next = this.#now;
    if (this.#storedJson === null || next === this.#storedJson) return;
    const before = this.#storedJson;
    this.#storedJson = next;
    const draft = this.#draft;
    const keeping =
      session === null
        ? call("sessions", "set_new_draft", { draft })
        : call("sessions", "set_draft", { session, draft });
    this.#keeping += 1;
    void keeping
      .finally(() => (this.#keeping -= 1))
      .catch((thrown: unknown) => {
        // Retried with the next change.
        if (this.#storedJson === next) this.#storedJson = before;
        // Deleting a session deletes its draft.
        if (drafts.get(session) === this) toasts.fail(asApiError(thrown));
      });
  }
}

function identity(attachment: Attachment): string {
  return attachment.type === "image" ? `image ${attachment.blob}` : `file ${attachment.path}`;
}

// eslint-disable-next-line svelte/prefer-svelte-reactivity -- each draft is reactive itself
const drafts = new Map<string | null, Draft>();

/** Returns the draft of a session; the same object as long as the window lives. */
export function draftOf(session: string, readStored: () => KeptDraft): Draft {
  const existing = drafts.get(session);
  if (existing) return existing;
  const draft = new Draft(session);
  draft.begin(readStored());
  drafts.set(session, draft);
  return draft;
}

/** Clears the draft of a session once its message was sent by this or another window. */
export function sentElsewhere(session: string, { role, blocks }: Message): void {
  const [block] = blocks;
  if (role === "user" && block?.type === "text") drafts.get(session)?.sentElsewhere(block.text);
}

/** Returns the draft of the session not started yet. */
export function newDraft(): Draft {
  const existing = drafts.get(null);
  if (existing) return existing;
  const draft = new Draft(null);
  drafts.set(null, draft);
  call("sessions", "get_new_draft", {}).then(
    (storedDraft) => draft.begin(storedDraft),
    (error: unknown) => toasts.fail(error),
  );
  return draft;
}

/** Drops a deleted session's draft: it went to the trash with the session and is restored with it. */
export function forgetDraft(session: string): void {
  drafts.get(session)?.flush();
  drafts.delete(session);
}

/** Loads changes made in other windows when this window gets the focus. */
export function refreshDrafts(): void {
  // The other window saves its draft when it loses focus. A draft that cannot be read stays unchanged.
  const read = () => drafts.forEach((draft) => void draft.refresh().catch(() => undefined));
  setTimeout(read, SETTLES);
}

/** Stores every draft now: the window loses the focus or closes. */
export function flushDrafts(): void {
  for (const draft of drafts.values()) draft.flush();
}
