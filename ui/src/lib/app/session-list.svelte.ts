/** The list of sessions and the actions on each. */
import { call } from "$lib/ipc";
import type { BranchPoint, SessionInfo, Trouble, Update } from "$lib/ipc/types";
import { type ListState, apply, extend, groupSessions } from "$lib/state/list";
import { t } from "$lib/words/words.svelte";
import { forgetDraft } from "./drafts.svelte";
import { type Following, follow } from "./follow";
import { toasts } from "./toasts.svelte";

/** The number of rows of a list page. */
const PAGE = 100;

class SessionList {
  #state = $state.raw<ListState | null>(null);
  #loading = false;
  #following: Following<ListState> | undefined;
  /** Sessions deleted during the window's life, for navigation. */
  readonly #deletedIds = new Set<string>();

  /** (Re)subscribes; resolves with the first snapshot, and rejects if there is none. */
  begin(): Promise<void> {
    this.#following?.stop();
    return new Promise((resolve, reject) => {
      let started = false;
      this.#following = follow<ListState>({ type: "sessions" }, (state, update) => apply(state, this.#noted(update)), {
        state: (state) => {
          this.#state = state;
          started = true;
          resolve();
        },
        ended: () => undefined,
        fault: (error) => {
          // A session started in this window announces itself and resubscribes.
          if (!started) {
            reject(error);
            return "wait";
          }
          toasts.fail(error);
          return "again";
        },
      });
    });
  }

  #noted(update: Update): Update {
    if (update.type !== "event") return update;
    const { event } = update.envelope;
    if (event.type === "session_removed") this.#deletedIds.add(event.id);
    else if (event.type === "session_listed") this.#deletedIds.delete(event.info.id);
    return update;
  }

  /** Returns whether a session was deleted in the meantime. An unlisted one may just not be loaded. */
  isGone(id: string): boolean {
    return this.#deletedIds.has(id);
  }

  get sessions(): readonly SessionInfo[] {
    return this.#state?.sessions ?? [];
  }

  /** The sessions in sidebar order. */
  get inView(): readonly SessionInfo[] {
    return groupSessions(this.sessions, Date.now()).flatMap((group) => group.sessions);
  }

  /** Returns why a session cannot be stored at present; null if it can. */
  trouble(id: string): Trouble | null {
    return this.#state?.troubles.get(id) ?? null;
  }

  get hasMore(): boolean {
    return this.#state !== null && this.#state.sessions.length < this.#state.total;
  }

  /** Loads another page of the list. */
  async more(): Promise<void> {
    if (this.#loading || !this.hasMore) return;
    this.#loading = true;
    try {
      const page = await call("sessions", "list_sessions", { query: "", offset: this.sessions.length, limit: PAGE });
      this.#following?.change((state) => extend(state, page.sessions, page.total));
    } catch (error) {
      toasts.fail(error);
    } finally {
      this.#loading = false;
    }
  }

  /** Marks a session as read in every window. */
  markRead(id: string): void {
    // If marking fails, the session stays visibly unread.
    void call("sessions", "mark_read", { session: id }).catch(() => undefined);
  }

  /** Creates a session with another one's conversation up to a point; null on failure. */
  async branch(id: string, point: BranchPoint): Promise<SessionInfo | null> {
    try {
      return await call("transcripts", "branch_session", { session: id, at: point });
    } catch (error) {
      toasts.fail(error);
      return null;
    }
  }

  async rename(id: string, title: string): Promise<void> {
    await this.#try(call("sessions", "rename_session", { session: id, title }));
  }

  async pin(id: string, pinned: boolean): Promise<void> {
    await this.#try(call("sessions", "pin_session", { session: id, pinned }));
  }

  /** Moves a session to the trash and offers to undo it. */
  async remove(id: string, onrestore: (info: SessionInfo) => void): Promise<boolean> {
    if (!(await this.#try(call("sessions", "delete_session", { session: id })))) return false;
    forgetDraft(id);
    toasts.show(t("toast.deleted"), {
      label: t("toast.undo"),
      run: () =>
        void call("sessions", "restore_session", { session: id }).then(onrestore, (error: unknown) =>
          toasts.fail(error),
        ),
    });
    return true;
  }

  async #try(request: Promise<unknown>): Promise<boolean> {
    try {
      await request;
      return true;
    } catch (error) {
      toasts.fail(error);
      return false;
    }
  }
}

/** This window's list of sessions. */
export const sessionList = new SessionList();
