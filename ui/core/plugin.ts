/** Connects the pages of the development server to real cores: one for each seed, until the server ends. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Plugin, ViteDevServer } from "vite";
import { PageCore, type PageLine, connect } from "./bridge.ts";
import { CoreProcess } from "./process.ts";
import { seeds } from "./seeds.ts";

type SeedName = keyof typeof seeds;
const isSeed = (name: string): name is SeedName => Object.hasOwn(seeds, name);

interface PageMessage {
  readonly page: string;
  readonly seed: string;
  readonly line: PageLine;
}

/** The plugin. */
export function realCore(): Plugin {
  return { name: "real-core", apply: "serve", configureServer: serve };
}

function serve(server: ViteDevServer): void {
  let running: { process: CoreProcess; person: string } | undefined;
  const cores = new Map<SeedName, Promise<PageCore>>();
  const coreOf = (seed: string): Promise<PageCore> => {
    if (!isSeed(seed)) return Promise.reject(new Error(`there is no seed ${seed}: ${Object.keys(seeds).join(", ")}`));
    if (!running) {
      const person = mkdtempSync(join(tmpdir(), "octo-person-"));
      running = { person, process: new CoreProcess(person) };
    }
    const core = cores.get(seed) ?? PageCore.start(running.process, seeds[seed]);
    cores.set(seed, core);
    return core;
  };

  const pages = new Map<string, Promise<ReturnType<typeof connect>>>();
  server.ws.on("core:line", ({ page, seed, line }: PageMessage, client) => {
    const connected =
      pages.get(page) ?? coreOf(seed).then((core) => connect(core, (line) => client.send("core:line", { page, line })));
    pages.set(page, connected);
    connected.then(
      ({ take }) => take(line),
      (error: unknown) => {
        server.config.logger.error(String(error));
        client.send("core:line", { page, line: { n: line.n, error: { key: "internal", detail: String(error) } } });
      },
    );
  });
  server.middlewares.use("/blobs", (request, response) => {
    const [, seed = "", ...path] = (request.url ?? "").split("/");
    coreOf(seed)
      .then((core) => core.blob(path.join("/")))
      .catch(() => null)
      .then(
        (blob) => {
          response.statusCode = blob ? 200 : 404;
          if (blob) response.setHeader("Content-Type", blob.type);
          response.end(blob?.bytes);
        },
        () => response.destroy(),
      );
  });
  server.httpServer?.once("close", () => {
    void Promise.allSettled([...cores.values()].map(async (core) => (await core).end())).then(async () => {
      await running?.process.end();
      if (running) rmSync(running.person, { recursive: true, force: true });
    });
  });
}
