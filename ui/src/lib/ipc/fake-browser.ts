/** A simulated browser: the agent's work in pages in a replay, and the answers about it. */
import { failure } from "./fake-parts";
import type {
  ApiError,
  Block,
  BrowserCheck,
  BrowserRequest,
  BrowserState,
  BrowserView,
  CallView,
  GrantedSite,
  LivePage,
  Question,
  SessionInfo,
  SiteSecret,
  Update,
} from "./types";

/** The session of every browser scene. */
export const BROWSER_SESSION = "d00000000000000000000000000000b0";
const TURN = "700000000000000000000000000000b0";
/** The start of the scenes' turn. */
const BEGAN = Date.UTC(2026, 10, 21, 14, 1, 50);
const SITE = "https://garden.example";

/** Returns a drawn picture of a shop's page. */
function pageDrawing(width: number, height: number): string {
  const cards = [0, 1, 2]
    .map((index) => {
      const x = 32 + index * 202;
      return (
        `<rect x="${x}" y="120" width="186" height="210" rx="8" fill="#f4f6f4" stroke="#d9dfd9"/>` +
        `<circle cx="${x + 93}" cy="184" r="40" fill="${["#9cc29c", "#d9b98a", "#a7bfd8"][index]}"/>` +
        `<rect x="${x + 16}" y="244" width="120" height="10" rx="5" fill="#55605a"/>` +
        `<rect x="${x + 16}" y="264" width="64" height="9" rx="4.5" fill="#9aa39d"/>` +
        `<rect x="${x + 16}" y="290" width="154" height="28" rx="6" fill="#2f6b46"/>` +
        `<rect x="${x + 60}" y="300" width="66" height="8" rx="4" fill="#fff"/>`
      );
    })
    .join("");
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 640 400">` +
    `<rect width="640" height="400" fill="#fff"/><rect width="640" height="56" fill="#214d33"/>` +
    `<rect x="32" y="22" width="110" height="12" rx="6" fill="#dcebe1"/><rect x="452" y="16" width="156" height="24" rx="12" fill="#3b6a4e"/>` +
    `<rect x="32" y="80" width="220" height="16" rx="8" fill="#38423c"/>${cards}` +
    `<rect x="32" y="352" width="420" height="9" rx="4.5" fill="#c3cac5"/><rect x="32" y="372" width="330" height="9" rx="4.5" fill="#dfe4e0"/></svg>`;
  return `data:image/svg+xml;base64,${btoa(svg)}`;
}

const view = (part: Partial<BrowserView> & Pick<BrowserView, "deed">): BrowserView => ({
  target: null,
  site: SITE,
  title: "Garden tools for small balconies · Garden & Co",
  tab: 3,
  text: null,
  output: "",
  picture: null,
  ...part,
});

const CROP = "c10b".padEnd(64, "0");

const READ = [
  'heading 1 "Garden tools for small balconies"',
  'searchbox "Search the shop" [4]',
  'list "Results" 3 of 48',
  '  listitem "Watering can, 5 l"  24.90  button "Add to basket" [11]',
  '  listitem "Hand trowel, oak"  12.50  button "Add to basket" [12]',
  '  listitem "Herb planter"  31.00  button "Add to basket" [13]',
  ...Array.from({ length: 70 }, (_, index) => `  … line ${index + 7} of the page`),
].join("\n");

const element = (role: string, name: string) => ({ role, name });
const done: (at: number, duration_ms: number) => CallView["state"] = (at, duration_ms) => ({
  type: "ended",
  status: "done",
  at: BEGAN + at,
  duration_ms,
});

function calls(): CallView[] {
  const call = (id: number, state: CallView["state"], shown: BrowserView): CallView => ({
    id: `c000000000000000000000000000b${String(id).padStart(3, "0")}`,
    turn: TURN,
    tool: "browser",
    state,
    view: { type: "browser", ...shown },
  });
  return [
    call(1, done(2_000, 900), view({ deed: "open", text: `${SITE}/tools`, title: null })),
    call(2, done(5_000, 210), view({ deed: "read", output: READ, picture: CROP })),
    call(
      3,
      done(9_000, 600),
      view({ deed: "type", target: element("searchbox", "Search the shop"), text: "watering can" }),
    ),
    call(4, done(11_000, 80), view({ deed: "press", text: "Enter" })),
    call(
      5,
      { type: "started", at: BEGAN + 56_000 },
      view({ deed: "click", target: element("button", "Add to basket") }),
    ),
  ];
}

function page(part: Partial<LivePage> = {}): LivePage {
  return {
    session: BROWSER_SESSION,
    call: null,
    tab: 3,
    site: SITE,
    title: "Garden tools for small balconies · Garden & Co",
    picture: 2,
    mark: null,
    hand: "agent",
    ...part,
  };
}

const MARK = { x: 48 / 640, y: 290 / 400, width: 154 / 640, height: 28 / 400 };

/** The browser scenes; `browser` is a page in use. */
export const browserScenes = [
  "browser",
  "browser-person",
  "browser-site",
  "browser-pays",
  "browser-waiting",
  "browser-lost",
] as const;
export type BrowserScene = (typeof browserScenes)[number];

/** Returns whether a scene is a browser scene. */
export function isBrowserScene(scene: string): scene is BrowserScene {
  return browserScenes.some((candidate) => candidate === scene);
}

const attached: BrowserState = { type: "attached", browser: "Chrome", version: "156.0.7402.4", way: "approved" };

/** Returns the browser's state at the start of a scene. */
export function browserAt(scene: string): BrowserState {
  if (scene === "browser-waiting") return { type: "waiting_for_allow", browser: "Chrome", since: BEGAN + 40_000 };
  if (scene === "browser-lost") return { type: "lost", error: failure("browser.ended") };
  return isBrowserScene(scene) ? attached : { type: "apart" };
}

function question(call: CallView, site: boolean): Question {
  const rule = site ? ({ type: "site", site: SITE } as const) : null;
  const target = call.view?.type === "browser" ? call.view.target : null;
  return {
    id: "e00000000000000000000000000000b0",
    call: call.id,
    tool: "browser",
    at: BEGAN + 57_000,
    ask: {
      type: "permission",
      preview: call.view ?? { type: "plain", text: "" },
      reason: site
        ? { type: "site", site: SITE }
        : { type: "page", risk: "pays", besides: [], site: SITE, target, files: [] },
      rule,
    },
  };
}

/** Returns a scene's session as the core would publish it: its snapshot, then the page. */
export function browserScene(scene: BrowserScene): Update[] {
  const all = calls();
  const asks = scene === "browser-site" || scene === "browser-pays";
  const visibleScenes = scene === "browser-site" || scene === "browser-waiting" ? all.slice(0, 1) : all;
  const last = visibleScenes.at(-1);
  if (last && scene === "browser-site")
    visibleScenes[0] = {
      ...last,
      state: { type: "asking" },
      view: { type: "browser", ...view({ deed: "open", text: `${SITE}/tools`, title: null }) },
    };
  if (last && scene === "browser-waiting") visibleScenes[0] = { ...last, state: { type: "planned" } };
  if (last && scene === "browser-pays")
    visibleScenes[visibleScenes.length - 1] = {
      ...last,
      state: { type: "asking" },
      view: {
        type: "browser",
        ...view({
          deed: "click",
          target: element("button", "Pay 24.90 now"),
          title: "Checkout · Garden & Co",
          picture: CROP,
        }),
      },
    };
  if (last && scene === "browser-lost")
    visibleScenes[visibleScenes.length - 1] = {
      ...last,
      state: { type: "ended", status: "failed", at: BEGAN + 57_000, duration_ms: 1_000 },
    };
  const asking = asks ? visibleScenes.at(-1) : undefined;
  const info: SessionInfo = {
    id: BROWSER_SESSION,
    title: "A watering can for the balcony",
    folder: "/home/mei/notes",
    profile: "general",
    mode: "ask_risky",
    model: "a0000000000000000000000000000001",
    source: "window",
    pinned: false,
    status: asks ? "waiting" : "running",
    created_at: BEGAN,
    updated_at: BEGAN,
    usage: { input: 3_000, cache_read: 22_000, cache_write: 2_000, output: 700 },
  };
  const text = (words: string): Block => ({ type: "text", text: words });
  const snapshot: Update = {
    type: "snapshot",
    snapshot: {
      topic: "session",
      seq: 1,
      info,
      page: {
        messages: [
          {
            id: "b00000000000000000000000000000b1",
            turn: TURN,
            role: "user",
            blocks: [
              text("Put a watering can of about five litres into the basket at Garden & Co. Ask me before you pay."),
            ],
            meta: { origin: "person", at: BEGAN },
          },
          {
            id: "b00000000000000000000000000000b2",
            turn: TURN,
            role: "assistant",
            blocks: [
              text("I look for it in your Chrome and stop before paying."),
              ...visibleScenes.map((call): Block => ({
                type: "tool_call",
                id: call.id,
                provider_id: call.id,
                name: "browser",
                arguments: "{}",
              })),
            ],
            meta: { origin: "model", at: BEGAN + 1_000 },
          },
        ],
        turns: [{ id: TURN, started_at: BEGAN, ended_at: null, end: null, usage: info.usage }],
        calls: visibleScenes,
        earlier: false,
      },
      questions: asking ? [question(asking, scene === "browser-site")] : [],
      queue: [],
      todos: [],
      commands: [],
      streaming: [],
      retry: null,
      draft: { text: "", attachments: [], foreign: false },
      notes: [],
      spending: { calls: 3, usage: info.usage, cost: 41_000_000, unpriced: 0 },
      context_tokens: 27_000,
      suggestion: null,
      budget: null,
    },
  };
  const live =
    scene === "browser-site" || scene === "browser-waiting" || scene === "browser-lost" ? [] : [livePage(scene)];
  return [snapshot, ...live];
}

function livePage(scene: BrowserScene): Update {
  if (scene === "browser-person")
    return {
      type: "page",
      page: page({ hand: "person", site: "http://pay.garden.example", title: "Checkout · Garden & Co" }),
    };
  if (scene === "browser-pays") return { type: "page", page: page({ title: "Checkout · Garden & Co" }) };
  return { type: "page", page: page({ mark: MARK, call: calls().at(-1)?.id ?? null }) };
}

/** Returns the drawn pages by the path they are served at. */
export function browserPictures(): Map<string, string> {
  return new Map([
    [`live/${BROWSER_SESSION}/1`, pageDrawing(640, 400)],
    [`live/${BROWSER_SESSION}/2`, pageDrawing(640, 400)],
    [CROP, pageDrawing(640, 400)],
  ]);
}

/** The browser part of the core. */
export class FakeBrowser {
  state: BrowserState;
  #sites: GrantedSite[] = [
    { site: SITE, folder: "/home/mei/notes" },
    { site: "https://tracker.example:8443", folder: "/home/mei/code/harbor" },
  ];
  #secrets: SiteSecret[] = [{ name: "mail-login", site: "https://mail.example.com" }];
  readonly #tell: (state: BrowserState) => void;
  readonly #hand: (session: string, hand: LivePage["hand"]) => void;

  constructor(
    state: BrowserState,
    tell: (state: BrowserState) => void,
    hand: (session: string, hand: LivePage["hand"]) => void,
  ) {
    this.state = state;
    this.#tell = tell;
    this.#hand = hand;
  }

  /** Changes the state. */
  become(state: BrowserState): void {
    this.state = state;
    this.#tell(state);
  }

  answer(call: BrowserRequest): unknown {
    switch (call.type) {
      case "find_browsers":
        if (new URLSearchParams(location.search).has("no-browsers")) return { browsers: [], own: true };
        return {
          own: !new URLSearchParams(location.search).has("no-own-browser"),
          browsers: [
            {
              id: "chrome",
              name: "Google Chrome",
              folder: "/home/mei/.config/google-chrome",
              door: "asks",
              allow_address: "chrome://inspect/#remote-debugging",
            },
            {
              id: "edge",
              name: "Microsoft Edge",
              folder: "/home/mei/.config/microsoft-edge",
              door: "closed",
              allow_address: "edge://inspect/#remote-debugging",
            },
          ],
        };
      // Only the settings change; the fake settings handle that.
      case "choose_browser":
        this.become({ type: "apart" });
        return {};
      case "attach_browser":
        this.become({ type: "waiting_for_allow", browser: "Chrome", since: Date.now() });
        return {};
      case "detach_browser": {
        const waited = this.state.type === "waiting_for_allow";
        this.become(waited ? { type: "lost", error: failure("browser.given_up") } : { type: "apart" });
        return {};
      }
      case "examine_browser":
        return { checks: this.#checks() };
      case "take_page":
        this.#hand(call.session, "person");
        return {};
      case "give_back_page":
        this.#hand(call.session, "agent");
        return {};
      case "list_sites":
        return { sites: this.#sites };
      case "forget_site":
        this.#sites = this.#sites.filter(({ site, folder }) => site !== call.site.site || folder !== call.site.folder);
        return {};
      case "list_site_secrets":
        return { secrets: this.#secrets };
      case "save_site_secret": {
        const saved = { name: call.name, site: new URL(call.site).origin };
        this.#secrets = [...this.#secrets.filter(({ name }) => name !== call.name), saved];
        return saved;
      }
      case "forget_site_secret":
        this.#secrets = this.#secrets.filter(({ name }) => name !== call.name);
        return {};
      default:
        return call satisfies never;
    }
  }

  #checks(): BrowserCheck[] {
    const inside = this.state.type === "attached";
    const asks = this.state.type === "waiting_for_allow";
    const checkError = (part: string, args = {}): ApiError => failure(`browser.check.${part}`, args);
    const chrome = { browser: "Chrome" };
    const none = new URLSearchParams(location.search).has("no-browsers");
    return [
      none
        ? {
            about: "installed",
            result: "broken",
            note: failure("browser.none_installed"),
            repair: { type: "choose_folder" },
          }
        : { about: "installed", result: "fine", note: checkError("installed", chrome), repair: null },
      { about: "version", result: "fine", note: checkError("asks"), repair: null },
      inside
        ? { about: "listens", result: "fine", note: checkError("listens", chrome), repair: null }
        : {
            about: "listens",
            result: "broken",
            note: failure("browser.none_listens"),
            repair: { type: "copy_address", address: "chrome://inspect/#remote-debugging" },
          },
      asks
        ? { about: "attached", result: "notice", note: checkError("waiting", chrome), repair: { type: "stop_waiting" } }
        : {
            about: "attached",
            result: inside ? "fine" : "broken",
            note: inside ? checkError("attached", chrome) : checkError("not_attached"),
            repair: inside ? null : { type: "attach" },
          },
      {
        about: "works",
        result: inside ? "fine" : "skipped",
        note: inside ? checkError("works") : checkError(asks ? "once_allowed" : "not_attached"),
        repair: inside ? null : { type: "use_own" },
      },
      {
        about: "private",
        result: "notice",
        note: checkError("switch", { port: "9222" }),
        repair: { type: "choose_folder" },
      },
    ];
  }
}
