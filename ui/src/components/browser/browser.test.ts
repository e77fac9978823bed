// @vitest-environment jsdom
import { browser } from "$lib/app/browser.svelte";
import { Conversation } from "$lib/app/conversation.svelte";
import { preferences } from "$lib/app/preferences.svelte";
import { BROWSER_SESSION } from "$lib/ipc/fake-browser";
import type { Event as CoreEvent, LivePage, Question } from "$lib/ipc/types";
import { testids } from "$lib/testids";
import { ReplayCore } from "$lib/testing/replay-core";
import { installStubs, until, within, words } from "$lib/testing/dom";
import { setLanguage, t } from "$lib/words/words.svelte";
import { type Component, flushSync, mount, unmount } from "svelte";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import BrowserPage from "../settings/BrowserPage.svelte";
import SessionView from "../session/SessionView.svelte";
import { KEY_DELAY } from "../permission/rules";

const replayed = new ReplayCore();
const { requests } = replayed;
let mounted: Record<string, unknown> | null = null;
const target = document.createElement("div");

const { all, get } = within(target);
const find = (id: string): HTMLElement | null => all(id)[0] ?? null;
// `mark_read` calls accompany the person's actions and are ignored here.
const types = () => requests.map(({ type }) => type).filter((type) => type !== "mark_read");

beforeAll(() => {
  vi.setConfig({ testTimeout: 20_000 });
  installStubs();
  history.replaceState(null, "", "/?fast");
});

async function open(scene: string): Promise<void> {
  await replayed.begin(scene);
  await preferences.begin();
  browser.begin();
  await until(() => expect(browser.state).not.toBeNull());
  requests.length = 0;
}

function show<P extends Record<string, unknown>>(component: Component<P>, props: P): void {
  mounted = mount(component, { target, props });
  flushSync();
}

async function session(scene: string): Promise<Conversation> {
  await open(scene);
  const conversation = new Conversation(BROWSER_SESSION, () => undefined);
  show(SessionView as unknown as Component<{ conversation: Conversation }>, { conversation });
  await until(() => get(testids.composer));
  return conversation;
}

const page = (change: Partial<LivePage> = {}): void =>
  replayed.core.publish(`session/${BROWSER_SESSION}`, {
    type: "page",
    page: {
      session: BROWSER_SESSION,
      call: null,
      tab: 3,
      site: "https://garden.example",
      title: "Garden tools",
      picture: 1,
      mark: null,
      hand: "agent",
      ...change,
    },
  });

function publish(event: CoreEvent): void {
  replayed.core.publish(`session/${BROWSER_SESSION}`, {
    type: "event",
    envelope: { topic: { type: "session", id: BROWSER_SESSION }, seq: 2, at: 9, v: 1, event },
  });
}

function ask(question: Omit<Question, "id" | "tool" | "at">): void {
  publish({ type: "question_asked", question: { id: "q1", tool: "browser", at: 9, ...question } });
}

/** Fires the load event of the pending picture: jsdom loads none. */
function load(): void {
  target.querySelector("img.loading")?.dispatchEvent(new Event("load"));
}

beforeEach(async () => {
  document.body.append(target);
  await setLanguage("en");
});
afterEach(async () => {
  if (mounted) await unmount(mounted);
  mounted = null;
  target.replaceChildren();
});

describe("a session that uses the browser", () => {
  it("shows Chrome's pending approval with its duration, and can cancel it", async () => {
    await session("browser-waiting");
    await until(() => expect(words(get(testids.browserWaiting))).toContain("Waiting for you to press Allow in Chrome"));
    expect(get(testids.browserWaiting).querySelector("[role=status]")).not.toBeNull();
    // The elapsed time is outside the announced text.
    expect(get(testids.browserWaiting).querySelector("[role=status]")?.textContent).not.toMatch(/\d/);
    expect(find(testids.live)).toBeNull();
    // The progress row of the turn says the same: the turn is not waiting for a model.
    expect(words(get(testids.turnProgress))).toContain("Waiting for you to press Allow in Chrome");
    get(testids.browserCancel).click();
    await until(() => expect(find(testids.browserWaiting)).toBeNull());
    expect(types()).toEqual(["detach_browser"]);
    expect(words(get(testids.turnProgress))).toContain(t("working.waiting"));
    // The browser's own prompt is still open; the text says how to close it.
    await until(() => expect(words(get(testids.browserLost))).toContain("press Cancel there before you attach again"));
  });

  it("shows that it waits for the model while another session's approval is pending", async () => {
    const conversation = await session("browser");
    await until(() => get(testids.live));
    const now = [...(conversation.state?.calls.values() ?? [])].find(({ state }) => state.type === "started");
    if (!now) throw new Error("no step is under way");
    publish({
      type: "call_changed",
      call: { ...now, state: { type: "ended", status: "done", at: 9, duration_ms: 1 } },
    });
    replayed.core.browser.become({ type: "waiting_for_allow", browser: "Chrome", since: 0 });
    await until(() => get(testids.browserWaiting));
    expect(words(get(testids.turnProgress))).toContain(t("working.waiting"));
  });

  it("shows the page, its site, the cursor and the steps without moving the focus", async () => {
    await session("browser");
    await until(() => get(testids.live));
    const focus = document.activeElement;
    page({ mark: { x: 0.1, y: 0.2, width: 0.3, height: 0.1 }, site: "http://pay.example", title: "\u202Eevil" });
    await until(() => expect(words(get(testids.liveSite))).toContain("http://pay.example"));
    expect(words(get(testids.liveSite))).toContain("Not encrypted");
    expect([...get(testids.liveSite).querySelectorAll("bdi")].map(words)).toContain("\u202Eevil");
    expect(find(testids.liveMark)).toBeNull();
    await until(() => {
      load();
      expect(get(testids.livePicture).dataset["picture"]).toBeDefined();
      expect(parseFloat(get(testids.liveMark).style.left)).toBe(10);
    });
    expect(all(testids.liveStep).map((step) => step.dataset["phase"])).toEqual(["done", "done", "done", "done", "now"]);
    expect(words(get(testids.live))).toContain("Clicking button Add to basket");
    expect(document.activeElement).toBe(focus);
  });

  it("announces each step once, not each picture", async () => {
    await session("browser");
    await until(() => get(testids.live));
    const announcement = get(testids.live).querySelector("[role=status]");
    const before = announcement?.textContent;
    expect(before).toContain("Clicking button");
    let changes = 0;
    const watch = new MutationObserver((records) => (changes += records.length));
    if (announcement) watch.observe(announcement, { childList: true, characterData: true, subtree: true });
    for (let picture = 3; picture < 20; picture += 1) page({ picture });
    flushSync();
    await Promise.resolve();
    expect([changes, announcement?.textContent]).toEqual([0, before]);
    watch.disconnect();
  });

  it("is taken over and handed back with one button that keeps the focus", async () => {
    await session("browser");
    await until(() => get(testids.liveHandover));
    const hand = get(testids.liveHandover);
    hand.focus();
    hand.click();
    await until(() => expect(get(testids.live).dataset["hand"]).toBe("person"));
    expect([words(hand), document.activeElement === hand]).toEqual(["Hand back and continue", true]);
    expect(get(testids.live).querySelector("[role=status]")?.textContent).toContain("Paused: you control the page");
    expect(words(get(testids.turnProgress))).toContain("Paused: you control the page");
    await until(() => expect(hand.getAttribute("aria-disabled")).toBeNull());
    hand.click();
    await until(() => expect(get(testids.live).dataset["hand"]).toBe("agent"));
    expect(words(hand)).toBe("Pause and take over");
    expect(types()).toEqual(["take_page", "give_back_page"]);
  });

  it("folds for a question or by hand, and disappears when stopped", async () => {
    await session("browser-pays");
    await until(() => get(testids.live));
    expect(find(testids.livePicture)).toBeNull();
    const fold = get(testids.liveToggle);
    expect([fold.getAttribute("aria-expanded"), fold.getAttribute("aria-label")]).toEqual(["false", "Page and steps"]);
    fold.click();
    await until(() => get(testids.livePicture));
    get(testids.liveStop).click();
    await until(() => expect(find(testids.live)).toBeNull());
    expect(types()).toEqual(["stop"]);
  });

  it("shows a lost connection and attaches again only on request", async () => {
    await session("browser");
    await until(() => get(testids.live));
    replayed.core.browser.become({ type: "lost", error: { key: "internal", args: {}, retryable: false } });
    await until(() => expect(get(testids.browserLost).getAttribute("role")).toBe("alert"));
    expect(words(get(testids.browserLost))).toContain("Something went wrong inside Octo");
    expect(types()).toEqual([]);
    get(testids.browserAttach).click();
    await until(() => get(testids.browserWaiting));
    expect(types()).toEqual(["attach_browser"]);
    replayed.core.browser.become({ type: "attached", browser: "Chrome", version: "1", way: "approved" });
    await until(() => expect(words(get(testids.statusBrowser))).toBe("Chrome"));
    expect(find(testids.browserWaiting)).toBeNull();
  });
});

describe("a question about a page", () => {
  it("names the element and the site, and offers no lasting grant", async () => {
    await session("browser-pays");
    await until(() => get(testids.question));
    const card = get(testids.question);
    expect(words(card)).toContain("Buy or pay on");
    expect([...card.querySelectorAll("bdi")].map(words)).toEqual([
      "https://garden.example",
      "Pay 24.90 now",
      "https://garden.example",
      "Checkout · Garden & Co",
    ]);
    expect(card.querySelector(".thumb img")).not.toBeNull();
    expect([find(testids.questionSession), find(testids.questionAlways)]).toEqual([null, null]);
    expect(words(card)).toContain("Octo asks in every mode.");
    // A key counts only after the question has been visible for a moment.
    await until(() => {
      card.dispatchEvent(new KeyboardEvent("keydown", { key: "n", bubbles: true }));
      expect(find(testids.question)).toBeNull();
    });
    expect(requests.at(-1)).toMatchObject({ type: "answer_question", answer: { type: "no", reason: null } });
  });

  it("names the field and shows the full text to type", async () => {
    await session("browser-site");
    const text = `${"word ".repeat(60)}\nend`;
    ask({
      call: "c9",
      ask: {
        type: "permission",
        preview: {
          type: "browser",
          deed: "type",
          target: { role: "textbox", name: "Message to all" },
          site: "https://a.example",
          title: null,
          tab: 1,
          text,
          output: "",
          picture: null,
        },
        reason: {
          type: "page",
          risk: "carries",
          besides: ["deletes"],
          site: "https://a.example",
          target: { role: "textbox", name: "Message to all" },
          files: [],
        },
        rule: null,
      },
    });
    await until(() => expect(all(testids.questionPage).length).toBe(2));
    const preview = all(testids.questionPage)[1];
    expect(preview && words(preview)).toContain("Type into field Message to all");
    expect(preview && words(preview)).not.toContain("field in use");
    expect(preview?.querySelector(".page-text")?.textContent).toBe(text);
    const card = all(testids.question)[1] ?? preview;
    const why = card ? words(card) : "";
    expect(why).toContain(t("ask.why.page.carries"));
    expect(why, "what else it sets off").toContain(t("ask.why.page.deletes"));
  });

  it("names the site and the files, and requires a click to allow", async () => {
    await session("browser-site");
    const target = { role: "button", name: "Send application" };
    const [outside, secret] = ["/srv/other/letter.pdf", "/home/ada/work/.env"];
    ask({
      call: "c9",
      ask: {
        type: "permission",
        preview: {
          type: "browser",
          deed: "upload",
          target,
          site: "https://jobs.example",
          title: null,
          tab: 1,
          text: `${outside}\n${secret}`,
          output: "",
          picture: null,
        },
        reason: {
          type: "page",
          risk: "uploads",
          besides: ["sends"],
          site: "https://jobs.example",
          target,
          files: [
            { type: "outside", path: outside },
            { type: "secret", path: secret },
          ],
        },
        rule: null,
      },
    });
    await until(() => expect(all(testids.question).length).toBe(2));
    const card = all(testids.question)[1];
    if (!card) throw new Error("no question");
    expect(words(card)).toContain("Upload a file to https://jobs.example");
    expect(words(card)).toContain("Send application");
    expect(card.querySelector(".page-text")?.textContent).toBe(`${outside}\n${secret}`);
    expect(words(card)).toContain(t("ask.why.file.outside", { path: `\u2068${outside}\u2069` }));
    expect(words(card)).toContain(t("ask.why.file.secret", { path: `\u2068${secret}\u2069` }));
    // It becomes the next question once the previous one is answered; Enter was meant for the previous one.
    find(testids.questionNo)?.click();
    await until(() => expect(all(testids.question).length).toBe(1));
    await new Promise((done) => setTimeout(done, KEY_DELAY));
    const before = requests.length;
    get(testids.question).dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
    expect(requests.slice(before)).toEqual([]);
  });

  it("about a site can be allowed for the turn, the session or the folder", async () => {
    await session("browser-site");
    await until(() => get(testids.question));
    expect(words(get(testids.question))).toContain("Let Octo work on https://garden.example");
    expect(words(get(testids.questionOnce))).toContain("Allow for this turn");
    expect(words(get(testids.question))).toContain("work on https://garden.example");
    get(testids.questionAlways).click();
    await until(() => expect(find(testids.question)).toBeNull());
    expect(requests.at(-1)).toMatchObject({ type: "answer_question", answer: { type: "always" } });
  });

  it.each(["en", "zh"] as const)("has a title and an explanation for every risk (%s)", async (language) => {
    await setLanguage(language);
    const risks = ["pays", "sends", "deletes", "confirms", "password", "uploads", "downloads"] as const;
    const more = ["carries", "long_address", "script"] as const;
    const texts = [...risks, ...more].flatMap((risk) => [t(`ask.page.${risk}`), t(`ask.why.page.${risk}`)]);
    expect(new Set(texts).size).toBe(20);
    await session("browser-site");
    replayed.core.publish(`session/${BROWSER_SESSION}`, { type: "page", page: null });
    ask({
      call: "c9",
      ask: {
        type: "permission",
        preview: {
          type: "browser",
          deed: "script",
          target: null,
          site: "http://a.example",
          title: null,
          tab: null,
          text: "document.title\n+ 1",
          output: "",
          picture: null,
        },
        reason: { type: "page", risk: "script", besides: [], site: "http://a.example", target: null, files: [] },
        rule: null,
      },
    });
    await until(() => expect(all(testids.question).length).toBe(2));
    const card = all(testids.question)[1];
    expect(card && words(card)).toContain(t("ask.why.page.script"));
    expect(card && words(card)).toContain(t("browser.not_encrypted"));
    // Shows the whole script with its line breaks, exactly as it would run.
    expect(card?.querySelector(".page-text")?.textContent).toContain("document.title\n+ 1");
  });
});

describe("browser settings", () => {
  it("change on a click, not on an arrow key", async () => {
    await open("main");
    show(BrowserPage as unknown as Component<Record<string, never>>, {});
    await until(() => get(`${testids.browserChoice}-chrome`));
    const automatic = get(`${testids.browserChoice}-automatic`);
    expect(automatic.getAttribute("aria-checked")).toBe("true");
    automatic.focus();
    automatic.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true, cancelable: true }));
    expect(document.activeElement).toBe(get(`${testids.browserChoice}-chrome`));
    expect(types().filter((type) => type === "choose_browser")).toEqual([]);
    get(`${testids.browserChoice}-edge`).click();
    await until(() => expect(get(`${testids.browserChoice}-edge`).getAttribute("aria-checked")).toBe("true"));
    expect(get(testids.browserAddress).textContent).toBe("edge://inspect/#remote-debugging");
    // The address cannot be opened from outside, so it is text to copy, not a link. Pictures have no alt text.
    expect(get(testids.browserAddress).closest("a")).toBeNull();
    const pictures = [...target.querySelectorAll(".browser-steps svg")];
    expect([pictures.length, pictures.map(words).join("")]).toEqual([3, ""]);
    get(`${testids.browserChoice}-own`).click();
    await until(() => expect(find(testids.browserCopy)).toBeNull());
  });

  it("offer Octo's own profile only where it can be launched", async () => {
    history.replaceState(null, "", "/?fast&no-own-browser");
    await open("main");
    show(BrowserPage as unknown as Component<Record<string, never>>, {});
    await until(() => get(`${testids.browserChoice}-chrome`));
    history.replaceState(null, "", "/?fast");
    expect(find(`${testids.browserChoice}-own`)).toBeNull();
    expect(find(`${testids.browserChoice}-off`)).not.toBeNull();
  });

  it("run checks, repair problems and remove sites", async () => {
    await open("main");
    show(BrowserPage as unknown as Component<Record<string, never>>, {});
    await until(() => get(testids.browserSite));
    get(testids.browserRunChecks).click();
    await until(() => get(`${testids.browserCheck}-private`));
    expect(get(`${testids.browserCheck}-attached`).dataset["result"]).toBe("broken");
    expect(words(get(`${testids.browserCheck}-works`))).toContain("Not checked");
    get(`${testids.browserCheck}-attached`)
      .querySelector<HTMLElement>(`[data-testid="${testids.browserRepair}"]`)
      ?.click();
    await until(() => expect(get(testids.browserState).dataset["state"]).toBe("waiting_for_allow"));
    // While the browser asks, the row says where to press Allow and offers to cancel.
    const line = () => get(`${testids.browserCheck}-attached`);
    await until(() => expect(words(line())).toContain("Chrome shows a question in its own window: press Allow there."));
    const stop = line().querySelector<HTMLElement>(`[data-testid="${testids.browserRepair}"]`);
    expect(stop && words(stop)).toBe("Stop waiting");
    stop?.click();
    await until(() => expect(get(testids.browserState).dataset["state"]).toBe("lost"));
    await until(() => expect(line().dataset["result"]).toBe("broken"));
    replayed.core.browser.become({ type: "attached", browser: "Chromium", version: "156", way: "switch" });
    await until(() => expect(words(get(testids.browserExposed))).toContain("any program that can reach its port"));
    get(testids.browserDetach).click();
    await until(() => expect(get(testids.browserState).dataset["state"]).toBe("apart"));
    const site = get(testids.browserSite);
    expect(site.querySelector("button")?.getAttribute("aria-label")).toBe(
      "Remove https://garden.example and ask about it again",
    );
    site.querySelector("button")?.click();
    await until(() =>
      expect(all(testids.browserSite).map((line) => line.dataset["site"])).toEqual(["https://tracker.example:8443"]),
    );
  });
});
