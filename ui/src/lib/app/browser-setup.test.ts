// @vitest-environment jsdom
import { type Transport, useTransport } from "$lib/ipc";
import type { BrowserRequest, FoundBrowser, Request } from "$lib/ipc/types";
import { beforeEach, describe, expect, it } from "vitest";
import { browser } from "./browser.svelte";
import { BrowserSetup } from "./browser-setup.svelte";
import { toasts } from "./toasts.svelte";

const foundBrowser = (id: string, door: FoundBrowser["door"]): FoundBrowser => ({
  id,
  name: id,
  folder: `/${id}`,
  door,
  allow_address: `${id}://inspect`,
});
let calls: Request["call"][] = [];
let answers: Partial<Record<string, () => unknown>> = {};
const settings = { settings: { language: "en", theme: "system" }, models: [], keychain: "available" };
const transport: Transport = {
  request: async (request) => {
    calls.push(request.call);
    await Promise.resolve();
    return answers[request.call.type]?.() ?? (request.call.type === "get_settings" ? settings : {});
  },
  subscribe: () => Promise.resolve(() => undefined),
  onFileDrop: () => () => undefined,
  blobUrl: (path) => path,
};
const types = () => calls.map(({ type }) => type);
const refused = () => {
  throw { key: "internal", args: {}, retryable: false };
};

beforeEach(() => {
  calls = [];
  answers = {
    find_browsers: () => ({ browsers: [foundBrowser("edge", "closed"), foundBrowser("chrome", "asks")], own: true }),
    list_sites: () => ({ sites: [] }),
    examine_browser: () => ({ checks: [{ about: "installed", result: "fine", note: {}, repair: null }] }),
  };
  toasts.list = [];
  useTransport(transport);
});

describe("the browser settings", () => {
  it("load without attaching, and show the address of a browser that will ask", async () => {
    const setup = new BrowserSetup();
    expect(setup.address).toBe("chrome://inspect/#remote-debugging");
    await setup.begin();
    expect(types().sort()).toEqual(["find_browsers", "list_sites"]);
    expect([setup.guide?.id, setup.address]).toEqual(["chrome", "chrome://inspect"]);
    expect(setup.own).toBe(true);
    answers["find_browsers"] = () => ({ browsers: [foundBrowser("edge", "closed")], own: false });
    await setup.refresh();
    expect([setup.address, setup.own]).toEqual(["edge://inspect", false]);
  });

  it("drop the check results for another browser, and check again after a repair", async () => {
    const setup = new BrowserSetup();
    await setup.examine();
    expect(setup.checks?.length).toBe(1);
    await setup.choose({ type: "off" });
    expect(setup.checks).toBeNull();
    calls = [];
    await setup.repair({ type: "use_own" });
    expect(types()).toEqual(["choose_browser", "get_settings", "examine_browser"]);
  });

  it("attach and cancel, and check again when the connection changes", async () => {
    const setup = new BrowserSetup();
    await setup.reexamine();
    expect(types()).toEqual([]);
    await setup.examine();
    await setup.repair({ type: "attach" });
    await setup.reexamine();
    await setup.repair({ type: "stop_waiting" });
    expect(types()).toEqual(["examine_browser", "attach_browser", "examine_browser", "detach_browser"]);
    // A change during the check triggers another check.
    calls = [];
    answers["examine_browser"] = () => {
      if (types().length === 1) browser.state = { type: "looking" };
      return { checks: [] };
    };
    await setup.examine();
    expect(types()).toEqual(["examine_browser", "examine_browser"]);
  });

  it("accept a chosen folder, and nothing on cancel", async () => {
    const setup = new BrowserSetup();
    answers["pick_folder"] = () => ({ type: "folder", path: null });
    await setup.repair({ type: "choose_folder" });
    expect(types()).toEqual(["pick_folder"]);
    answers["pick_folder"] = () => ({ type: "folder", path: "/mine" });
    calls = [];
    await setup.repair({ type: "choose_folder" });
    const chosen = calls.find(
      (call): call is Extract<BrowserRequest, { type: "choose_browser" }> => call.type === "choose_browser",
    );
    expect(chosen?.choice).toEqual({ type: "folder", path: "/mine" });
    expect(types().at(-1)).toBe("examine_browser");
  });

  it("keep a site that could not be removed and show why", async () => {
    const setup = new BrowserSetup();
    const site = { site: "https://a.example", folder: "/x" };
    answers["list_sites"] = () => ({ sites: [site] });
    await setup.begin();
    answers["forget_site"] = refused;
    await setup.forget(site);
    expect([setup.sites, toasts.list.length]).toEqual([[site], 1]);
    answers["forget_site"] = () => ({});
    answers["list_sites"] = () => ({ sites: [] });
    await setup.forget(site);
    expect(setup.sites).toEqual([]);
    expect(calls.at(-2)).toEqual({ type: "forget_site", site });
  });

  it("show a failed check until it succeeds", async () => {
    const setup = new BrowserSetup();
    answers["examine_browser"] = refused;
    await setup.examine();
    expect([setup.problem?.key, setup.examining, setup.checks]).toEqual(["internal", false, null]);
    answers["examine_browser"] = () => ({ checks: [] });
    await setup.examine();
    expect([setup.problem, setup.checks]).toEqual([null, []]);
  });
});
