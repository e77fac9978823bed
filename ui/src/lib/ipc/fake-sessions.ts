/** Answers requests about finding, branching and exporting sessions in a replay. */
import { type ListState, isUnread } from "$lib/state/list";
import type { SessionState } from "$lib/state/session";
import { failure } from "./fake-parts";
import type {
  ExportForm,
  ExportPreview,
  Message,
  SessionFilter,
  SessionFolder,
  SessionHit,
  SessionInfo,
  SessionRequest,
  TranscriptRequest,
} from "./types";

/** Marks the sessions of a replay as read, since recordings predate read marks; leaves one unread. */
export function withRead(recorded: ListState): ListState {
  const unreadSession = recorded.sessions.find((info) => info.status === "idle" && !info.pinned);
  const sessions = recorded.sessions.map((info) =>
    info === unreadSession ? info : { ...info, read_at: info.read_at ?? info.updated_at },
  );
  return { ...recorded, sessions };
}

function matchesFilter(filter: SessionFilter, info: SessionInfo): boolean {
  const matchesStatus =
    filter.mark === "unread" ? isUnread(info) : filter.mark === undefined || info.status === filter.mark;
  return (
    matchesStatus &&
    (filter.source === undefined || info.source === filter.source) &&
    (filter.profile === undefined || info.profile === filter.profile) &&
    (filter.folder === undefined || info.folder === filter.folder) &&
    (filter.since === undefined || info.updated_at >= filter.since) &&
    (filter.until === undefined || info.updated_at < filter.until)
  );
}

/** Returns a page of the sessions that match a filter. */
export function listed(
  sessions: readonly SessionInfo[],
  call: Extract<SessionRequest, { type: "list_sessions" }>,
): { sessions: SessionInfo[]; total: number } {
  const query = call.query.trim().toLowerCase();
  const matches = sessions.filter(
    (info) => info.title.toLowerCase().includes(query) && matchesFilter(call.filter ?? {}, info),
  );
  return { sessions: matches.slice(call.offset, call.offset + call.limit), total: matches.length };
}

/** Returns the folders of sessions at rest, the last used first. */
export function foldersOf(sessions: readonly SessionInfo[]): SessionFolder[] {
  const folders = new Map<string, SessionFolder>();
  for (const info of sessions) {
    if (info.pinned || info.status === "waiting") continue;
    const { sessions: before, updated_at } = folders.get(info.folder) ?? { sessions: 0, updated_at: 0 };
    const newest = Math.max(updated_at, info.updated_at);
    folders.set(info.folder, { path: info.folder, sessions: before + 1, updated_at: newest });
  }
  return [...folders.values()].toSorted((a, b) => b.updated_at - a.updated_at);
}

/** Returns the matches of the words in a text. */
function marksOf(text: string, query: string): SessionHit["marks"] {
  const lower = text.toLowerCase();
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return words
    .flatMap((word) => {
      const start = lower.indexOf(word);
      return start < 0 ? [] : [{ start, end: start + word.length }];
    })
    .toSorted((a, b) => a.start - b.start);
}

/** Returns the sessions whose messages contain a text. */
export function hitsOf(messages: readonly { info: SessionInfo; message: Message }[], query: string): SessionHit[] {
  const searchText = query.toLowerCase();
  return messages.flatMap(({ info, message }) => {
    const text = message.blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join(" ");
    const index = text.toLowerCase().indexOf(searchText);
    const snippet = text.slice(Math.max(0, index - 40), index + 80);
    return index < 0 ? [] : [{ info, message: message.id, snippet, marks: marksOf(snippet, query) }];
  });
}

/** The parts shared by the fake core. */
export interface SampleSessions {
  open(id: string): SessionState;
  add(info: SessionInfo, state: SessionState): void;
  id(): string;
}

export class FakeTranscripts {
  readonly #samples: SampleSessions;

  constructor(sessions: SampleSessions) {
    this.#samples = sessions;
  }

  async answer(call: TranscriptRequest): Promise<unknown> {
    switch (call.type) {
      case "read_transcript":
        return { page: { messages: [], turns: [], calls: [], earlier: false }, later: false };
      case "branch_session": {
        const from = this.#samples.open(call.session);
        const { at: branchPoint } = call;
        const cut =
          branchPoint.type === "whole"
            ? from.messages.length
            : from.messages.findIndex((message) => message.id === branchPoint.message) +
              (branchPoint.type === "through" ? 1 : 0);
        const messages = from.messages.slice(0, cut);
        const draftMessage = branchPoint.type === "before" ? from.messages[cut] : undefined;
        const now = Date.now();
        const info: SessionInfo = {
          ...from.info,
          id: this.#samples.id(),
          title: `${from.info.title} (2)`,
          pinned: false,
          status: "idle",
          created_at: now,
          updated_at: now,
          read_at: now,
        };
        this.#samples.add(info, {
          ...from,
          seq: 1,
          info,
          messages,
          turns: from.turns.filter((turn) => messages.some((message) => message.turn === turn.id)),
          questions: [],
          queue: [],
          commands: [],
          streaming: [],
          draft: {
            text: (draftMessage?.blocks ?? [])
              .flatMap((block) => (block.type === "text" ? [block.text] : []))
              .join("\n\n"),
            attachments: [],
            foreign: false,
          },
          origin: {
            type: "branch",
            session: from.info.id,
            title: from.info.title,
            message: messages.at(-1)?.id ?? null,
          },
        });
        return info;
      }
      case "preview_export":
        return this.#preview(call.session, call.form);
      case "export_session":
        if (call.to.startsWith("/taken/")) throw failure("export.taken", { path: call.to });
        return { path: call.to, bytes: 18_240 };
      case "inspect_session_file":
        if (!call.from.endsWith(".json") && !call.from.endsWith(".txt")) throw failure("import.foreign");
        return {
          title: "Resume uploads after a dropped connection",
          folder: "/home/jun/code/harbor",
          updated_at: Date.now() - 86_400_000,
          messages: 42,
          calls: 17,
          pictures: 2,
          left_out: 3,
        };
      case "import_session":
        throw failure("import.broken");
      default:
        return call satisfies never;
    }
  }

  #preview(id: string, form: ExportForm): ExportPreview {
    const { info, messages, calls } = this.#samples.open(id);
    const personMessages = messages.filter((message) => message.meta.origin === "person").length;
    const answers = messages.filter((message) => message.role === "assistant").length;
    const endings = { markdown: "md", html: "html", json: "octo.json" };
    return {
      name: `${info.title.split(/\W+/).join("-")}-2026-11-22.${endings[form]}`,
      bytes: form === "html" ? 412_480 : 18_240,
      parts: [
        { kind: "asked", count: personMessages, bytes: personMessages * 210 },
        { kind: "answers", count: answers, bytes: answers * 640 },
        { kind: "calls", count: calls.size, bytes: calls.size * 1_400 },
        ...(form === "json" ? [{ kind: "notices" as const, count: 2, bytes: 320 }] : []),
        { kind: "pictures", count: 1, bytes: form === "markdown" ? 0 : 288_000 },
      ],
      secrets: 2,
    };
  }
}
