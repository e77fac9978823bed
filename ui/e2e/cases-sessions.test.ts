/** The acceptance cases of sessions: creating, finding, keeping and changing them. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PageCore } from "../core/bridge.ts";
import { readyHome, several } from "../core/seeds.ts";
import { current, pasteScreenshot, pick, row, say, publishRuns } from "./actions";
import { Stage, asked, close, restart, settled, untilFocused } from "./stage";

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.start();
});
afterAll(() => stage.end());

/** How quickly another window must show a change, in milliseconds. */
const SECOND = 1_000;

/** Where a session appears in the list: under a heading, or not at all. */
type Standing = "pinned" | "listed" | "gone";

/** Sends `call` as another window and returns whether the list here shows the result in time. Measured in the page. */
async function shownInTime(page: Page, call: Record<string, unknown>, title: string, how: Standing): Promise<boolean> {
  const request = { domain: "sessions", call };
  return page.evaluate(
    ({ request, title, how, pinned, today, within }) => {
      const standing = (): string => {
        const found = [...document.querySelectorAll(".side-list :is(.side-label, .name)")];
        const lines = found.map((line) => line.textContent?.trim());
        const at = lines.indexOf(title);
        if (at < 0) return "gone";
        return at > lines.indexOf(pinned) && at < lines.indexOf(today) ? "pinned" : "listed";
      };
      dispatchEvent(new CustomEvent("fake", { detail: { request } }));
      return new Promise<boolean>((resolve) => {
        setTimeout(() => resolve(standing() === how), within);
        const look = (): void => {
          if (standing() === how) resolve(true);
          else requestAnimationFrame(look);
        };
        look();
      });
    },
    { request, title, how, pinned: say("group.pinned"), today: say("group.today"), within: SECOND },
  );
}

/** Waits until the page has stored a draft. */
async function drafted(page: Page, type: string): Promise<void> {
  await expect.poll(async () => (await asked(page, type)).length).toBeGreaterThan(0);
}

describe("sessions", () => {
  it("13. a session with options: the chosen profile, model, native-picked folder and name are shown in it", async () => {
    const twoModels = async (core: PageCore): Promise<void> => {
      await readyHome(core);
      await core.addModel("qwen3-30b");
    };
    // The folder that the fake desktop picks must be there.
    const picked = stage.person;
    const { page } = await stage.openReal(twoModels, { query: `&pick=${encodeURIComponent(picked)}` });
    await page.getByTestId("new-session").click();
    await page.getByTestId("new-title").fill("Bees");
    await page.getByTestId("new-folder-pick").click();
    await expect.poll(() => page.getByTestId("new-folder").inputValue()).toBe(picked);
    await expect.poll(() => asked(page, "pick_folder")).toHaveLength(1);
    await page.getByTestId("profile-general").click();
    await page.getByTestId("status-model").click();
    await pick(page, "qwen3-30b");
    await page.getByTestId("composer").fill("How many hives are there?");
    await page.getByTestId("send").click();
    await page.getByTestId("user-message").waitFor();
    const head = page.locator(".head");
    await expect.poll(() => head.getByRole("heading").innerText()).toBe("Bees");
    await expect.poll(() => head.innerText()).toContain(say("profile.general"));
    await expect.poll(() => page.getByTestId("status-model").innerText()).toContain("qwen3-30b");
    await expect.poll(() => page.getByTestId("status-folder").getAttribute("title")).toBe(picked);
    await expect.poll(() => row(page, "Bees").getAttribute("aria-current")).toBe("page");
    await close(page);
  });

  it("14. the first message in an unnamed session: the session is renamed after it, wherever it is named", async () => {
    const { page, core } = await stage.openReal(readyHome);
    await page.keyboard.press("Control+n");
    await page.getByTestId("new-folder").fill(core.folder);
    await page.getByTestId("composer").focus();
    await page.keyboard.type("Count the hives");
    await page.keyboard.press("Enter");
    await page.getByTestId("user-message").waitFor();
    await expect.poll(() => page.locator(".head").getByRole("heading").innerText()).toBe("Count the hives");
    await expect.poll(() => row(page, "Count the hives").count()).toBe(1);
    await expect.poll(() => page.title()).toContain("Count the hives");
    await close(page);
  });

  it("37. unsent text and attachments are still there on coming back to a session and after a restart", async () => {
    const { page, core } = await stage.openReal(several);
    await row(page, "Resume uploads").click();
    await page.locator(".head").getByRole("heading", { name: "Resume uploads" }).waitFor();
    const composer = page.getByTestId("composer");
    await composer.fill("Half a thought");
    await pasteScreenshot(page);
    await page.getByTestId("attachment").waitFor();
    await row(page, "Reply to the landlord").click();
    await expect.poll(() => composer.inputValue()).toBe("");
    await expect.poll(() => page.getByTestId("attachment").count()).toBe(0);
    await composer.fill("Another one");
    await row(page, "Resume uploads").click();
    await expect.poll(() => composer.inputValue()).toBe("Half a thought");
    await expect.poll(() => page.getByTestId("attachment").count()).toBe(1);
    // The setting also applies to a session that has not started yet.
    await page.keyboard.press("Control+n");
    await page.getByTestId("new-folder").waitFor();
    await composer.fill("A new beginning");
    await drafted(page, "set_new_draft");
    await core.restart();
    await restart(page);
    await page.keyboard.press("Control+n");
    await page.getByTestId("new-folder").waitFor();
    await expect.poll(() => composer.inputValue()).toBe("A new beginning");
    await row(page, "Resume uploads").click();
    await expect.poll(() => composer.inputValue()).toBe("Half a thought");
    const picture = page.getByTestId("attachment").locator("img");
    await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
    await row(page, "Reply to the landlord").click();
    await expect.poll(() => composer.inputValue()).toBe("Another one");
    await close(page);
  });

  it("38. switching the model changes only that session, and a restart keeps it", async () => {
    const { page, core } = await stage.openReal(several);
    const model = page.getByTestId("status-model");
    await row(page, "Reply to the landlord").click();
    await expect.poll(() => model.innerText()).toContain("claude-sonnet-4-5");
    await model.click();
    await pick(page, "qwen3-30b");
    await expect.poll(() => model.innerText()).toContain("qwen3-30b");
    const session = await current(page);
    await expect.poll(() => asked(page, "set_model")).toMatchObject([{ session }]);
    for (const other of ["Rename photos", "Resume uploads"]) {
      await row(page, other).click();
      await expect.poll(() => model.innerText()).toContain("claude-sonnet-4-5");
    }
    await page.keyboard.press("Control+n");
    await page.getByTestId("new-folder").waitFor();
    await expect.poll(() => model.innerText()).toContain("claude-sonnet-4-5");
    await core.restart();
    await restart(page);
    await row(page, "Reply to the landlord").click();
    await expect.poll(() => model.innerText()).toContain("qwen3-30b");
    await close(page);
  });

  it("41. what is pinned, renamed or deleted, here or in another window, is shown within a second", async () => {
    const { page } = await stage.openReal(several);
    const menu = async (title: string, entry: string): Promise<void> => {
      await row(page, title).click({ button: "right" });
      await pick(page, entry);
    };
    await menu("Reply to the landlord", say("session.rename"));
    await page.keyboard.type("Answer the landlord");
    await page.keyboard.press("Enter");
    await row(page, "Answer the landlord").waitFor();
    await menu("Answer the landlord", say("session.pin"));
    const session = await row(page, "Answer the landlord").getAttribute("data-session");
    const head = page.locator(".side-list .side-label", { hasText: say("group.pinned") });
    await expect.poll(async () => (await asked(page, "pin_session")).length).toBe(1);
    await head.waitFor();
    await menu("Answer the landlord", say("session.delete"));
    await expect.poll(() => row(page, "Answer the landlord").count()).toBe(0);
    await page
      .getByTestId("toast")
      .getByRole("button", { name: say("toast.undo") })
      .click();
    await row(page, "Answer the landlord").waitFor();

    // Runs the same call in another window and checks the text shown here.
    const elsewhere = (call: Record<string, unknown>, title: string, how: Standing): Promise<boolean> =>
      shownInTime(page, { ...call, session }, title, how);
    expect(await elsewhere({ type: "pin_session", pinned: false }, "Answer the landlord", "listed")).toBe(true);
    expect(await elsewhere({ type: "pin_session", pinned: true }, "Answer the landlord", "pinned")).toBe(true);
    await row(page, "Answer the landlord").click();
    const title = page.locator(".head").getByRole("heading");
    await expect.poll(() => title.innerText()).toBe("Answer the landlord");
    expect(await elsewhere({ type: "rename_session", title: "The landlord" }, "The landlord", "pinned")).toBe(true);
    await expect.poll(() => title.innerText()).toBe("The landlord");
    expect(await elsewhere({ type: "delete_session" }, "The landlord", "gone")).toBe(true);
    await close(page);
  });

  it("runs of a task that stand below each other are one line until they are unfolded", async () => {
    const page = await stage.open({ scene: "main" });
    const name = "Morning brief";
    const own = await page.getByTestId("session-row").count();
    const unread = { read_at: 0 };
    const waiting = { status: "waiting" };
    await publishRuns(page, name, [{}, {}, unread, { status: "failed", ...unread }, unread, waiting]);
    const fold = page.getByTestId("runs-row");
    await fold.waitFor();
    // The newest run, the unseen failed one, and above all the waiting one.
    await expect.poll(() => row(page, name).count()).toBe(3);
    await expect.poll(() => fold.getAttribute("aria-expanded")).toBe("false");
    await expect.poll(() => fold.innerText()).toContain(say("side.runs.other", { n: 3 }));
    await expect.poll(() => fold.textContent()).toContain(say("side.runs.unread.other", { n: 2 }));
    const tops = async (): Promise<number[]> => {
      const rows = page.locator(".side-list .row");
      return rows.evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().top)));
    };
    // No two rows overlap.
    const places = async (): Promise<boolean> => {
      const all = await tops();
      return all.every((top, nth) => nth === 0 || top - (all[nth - 1] ?? 0) >= 28);
    };
    await expect.poll(places).toBe(true);

    // By keyboard, as in a tree: from the row above into the unfolded rows.
    const newest = row(page, name).nth(1);
    await newest.focus();
    await page.keyboard.press("ArrowDown");
    await untilFocused(page, "runs-row");
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => row(page, name).count()).toBe(6);
    await untilFocused(page, "runs-row");
    await expect.poll(() => fold.getAttribute("aria-expanded")).toBe("true");
    await expect.poll(places).toBe(true);
    await page.keyboard.press("ArrowDown");
    await untilFocused(page, "session-row");
    // Opening a page without the list and returning leaves the list unchanged.
    await page.getByTestId("open-settings").click();
    await page.getByTestId("settings").waitFor();
    await page.keyboard.press("Alt+ArrowLeft");
    await expect.poll(() => row(page, name).count()).toBe(6);

    // A folded stretch can be marked as read.
    await fold.click();
    await expect.poll(() => row(page, name).count()).toBe(3);
    await page.getByTestId("runs-mark-read").focus();
    await page.keyboard.press("Enter");
    await untilFocused(page, "runs-row");
    await expect.poll(() => asked(page, "mark_read")).toHaveLength(2);

    // Ctrl with a number counts visible rows, including the newest run and the failed one.
    const ids = await page.getByTestId("session-row").evaluateAll((all) => all.map((one) => one.dataset["session"]));
    const place = ids.indexOf((await newest.getAttribute("data-session")) ?? "") + 2;
    await page.keyboard.press(`Control+${place + 1}`);
    await expect.poll(() => current(page)).toBe(ids[place]);
    expect(ids).toHaveLength(own + 3);
    // Search results are never folded.
    await page.getByTestId("search").fill(name);
    await expect.poll(() => row(page, name).count()).toBe(6);
    await expect.poll(() => fold.count()).toBe(0);
    await close(page);
  });

  it("43. searching finds titles and message text, with highlights, filters by type and date, and a jump to the message", async () => {
    const page = await stage.open({ scene: "long", query: "&messages=400" });
    await page.keyboard.press("Control+Shift+f");
    await untilFocused(page, "search");
    await page.keyboard.type("photos");
    await expect.poll(() => page.getByTestId("session-row").allInnerTexts()).toHaveLength(1);
    await expect.poll(() => row(page, "Rename photos").count()).toBe(1);
    await page.getByTestId("search").fill("Question 8:");
    const hit = page.getByTestId("search-hit").first();
    await hit.waitFor();
    expect((await hit.locator("mark").allInnerTexts()).join(" ").toLowerCase()).toContain("question");
    await hit.click();
    const marked = page.locator(".t-row[data-marked]");
    await marked.waitFor();
    await expect.poll(() => marked.innerText()).toContain("Question 8:");
    await expect.poll(() => marked.isVisible()).toBe(true);

    await page.getByTestId("search").fill("");
    const titles = async (): Promise<string[]> => {
      await settled(page);
      const rows = await page.getByTestId("session-row").locator(".name").allInnerTexts();
      return rows.map((title) => title.trim());
    };
    const all = await titles();
    await page.getByTestId("session-filter").click();
    const filters = page.getByTestId("session-filters");
    await filters.getByLabel(say("search.filter.source")).selectOption("demo");
    await expect.poll(titles).toEqual(["Octo demo"]);
    await filters.getByLabel(say("search.filter.source")).selectOption("");
    await filters.getByLabel(say("search.filter.since")).fill("2026-11-20");
    await filters.getByLabel(say("search.filter.until")).fill("2026-11-20");
    await expect.poll(titles).not.toEqual(all);
    const days = await titles();
    expect(days).toContain("Explain the retry loop in sync.rs");
    expect(days).not.toContain("Resume uploads after a dropped connection");
    expect(days).not.toContain("Join two CSV exports on order id");
    await page.getByTestId("session-filters-clear").click();
    await expect.poll(titles).toEqual(all);
    await close(page);
  });
});

it("nothing wrote an error or a warning to its console", () => {
  expect(stage.faults).toEqual([]);
});
