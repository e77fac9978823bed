/**
 * The page's side of the protocol: typed requests and subscriptions over the transport chosen at start (the shell, or a
 * replay of recorded updates during development).
 */
import type {
  ActivityReplies,
  ActivityRequest,
  ApiError,
  AppReplies,
  AppRequest,
  BrowserReplies,
  BrowserRequest,
  ChatReplies,
  ChatRequest,
  HomeReplies,
  HomeRequest,
  HostReply,
  HostRequest,
  LedgerReplies,
  LedgerRequest,
  MemoryReplies,
  MemoryRequest,
  ModelReplies,
  ModelRequest,
  PolicyReplies,
  PolicyRequest,
  Request,
  ScheduleReplies,
  ScheduleRequest,
  SessionReplies,
  SessionRequest,
  SkillReplies,
  SkillRequest,
  TimeReplies,
  TimeRequest,
  Topic,
  TranscriptReplies,
  TranscriptRequest,
  TrashReplies,
  TrashRequest,
  Update,
} from "./types";

/** The carrier of requests and updates. */
export interface Transport {
  /** Sends a request; rejects with an [`ApiError`]. */
  request(request: Request): Promise<unknown>;
  /** Delivers batches of updates until the returned function is called. */
  subscribe(topic: Topic, onBatch: (batch: Update[]) => void): Promise<() => void>;
  /** Calls `handler` with the absolute paths of files dropped onto the window, and while they hover. */
  onFileDrop(handler: (drop: FileDrop) => void): () => void;
  /**
   * Calls `handler` when an open request arrives from outside the page; its content must be fetched. Missing in a plain
   * browser.
   */
  onErrand?(handler: () => void): () => void;
  /** Returns the address of a stored blob by its hash, or of other content served there by its path. */
  blobUrl(path: string): string;
}

/** Files hovering over the window, or dropped onto it. */
export type FileDrop = { type: "over" } | { type: "leave" } | { type: "drop"; paths: string[] };

interface Requests {
  sessions: SessionRequest;
  models: ModelRequest;
  ledger: LedgerRequest;
  trash: TrashRequest;
  app: AppRequest;
  time: TimeRequest;
  policy: PolicyRequest;
  browser: BrowserRequest;
  chats: ChatRequest;
  skills: SkillRequest;
  memory: MemoryRequest;
  schedule: ScheduleRequest;
  activity: ActivityRequest;
  home: HomeRequest;
  transcripts: TranscriptRequest;
}
interface Replies {
  sessions: SessionReplies;
  models: ModelReplies;
  ledger: LedgerReplies;
  trash: TrashReplies;
  app: AppReplies;
  time: TimeReplies;
  policy: PolicyReplies;
  browser: BrowserReplies;
  chats: ChatReplies;
  skills: SkillReplies;
  memory: MemoryReplies;
  schedule: ScheduleReplies;
  activity: ActivityReplies;
  home: HomeReplies;
  transcripts: TranscriptReplies;
}
type Domain = keyof Requests;
type RequestOf<D extends Domain, T> = Extract<Requests[D], { type: T }>;
type Fields<R> = Omit<R, "type" | symbol>;

let transport: Transport | undefined;

/** Sets the transport; called once, before the first request. */
export function useTransport(chosen: Transport): void {
  transport = chosen;
}

function carrier(): Transport {
  if (!transport) throw new Error("no transport was chosen");
  return transport;
}

/** Sends the request `type` of `domain`; the protocol defines the reply's type. */
export async function call<D extends Domain, T extends keyof Replies[D] & Requests[D]["type"]>(
  domain: D,
  type: T,
  fields: Fields<RequestOf<D, T>>,
): Promise<Replies[D][T]> {
  const request = { domain, call: { type, ...fields } } as unknown as Request;
  return (await carrier().request(request)) as Replies[D][T];
}

/** Sends a request only a desktop can answer. */
export async function host(request: HostRequest): Promise<HostReply> {
  return (await carrier().request({ domain: "host", call: request })) as HostReply;
}

/** Subscribes to a topic; the returned function ends the subscription, even before it is confirmed. */
export function subscribe(
  topic: Topic,
  onBatch: (batch: Update[]) => void,
  onError: (error: ApiError) => void,
): () => void {
  let cancelled = false;
  let end: (() => void) | undefined;
  carrier()
    .subscribe(topic, (batch) => {
      if (!cancelled) onBatch(batch);
    })
    .then(
      (unsubscribe) => {
        if (cancelled) unsubscribe();
        else end = unsubscribe;
      },
      (error: unknown) => {
        if (!cancelled) onError(asApiError(error));
      },
    );
  return () => {
    cancelled = true;
    end?.();
  };
}

/** See [`Transport.onFileDrop`]. */
export function onFileDrop(handler: (drop: FileDrop) => void): () => void {
  return carrier().onFileDrop(handler);
}

/** See [`Transport.onErrand`]. */
export function onErrand(handler: () => void): () => void {
  return carrier().onErrand?.(handler) ?? (() => undefined);
}

/** See [`Transport.blobUrl`]. */
export function blobUrl(hash: string): string {
  return carrier().blobUrl(hash);
}

/** Returns the address of a picture of a session's current page; see `LivePage.picture`. */
export function livePictureUrl(session: string, picture: number): string {
  return carrier().blobUrl(`live/${session}/${picture}`);
}

/** Converts any thrown value to an [`ApiError`]. */
export function asApiError(thrown: unknown): ApiError {
  if (typeof thrown === "object" && thrown !== null && "key" in thrown && typeof thrown.key === "string") {
    return { args: {}, retryable: false, ...(thrown as Partial<ApiError>), key: thrown.key };
  }
  const detail = thrown instanceof Error ? thrown.message : String(thrown);
  return { key: "internal", args: {}, detail, retryable: false };
}
