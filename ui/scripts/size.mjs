/**
 * Fails when the page's startup size exceeds its budget: kilobytes (1000 bytes) of JavaScript and CSS of the entry and
 * everything it imports statically, gzip-compressed, which approximates the cost of reading and parsing. Measured
 * 95.1 kB on 2026-11-26. Chunks loaded later (a session, code highlighting, settings, their words) are not counted.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { gzipSync } from "node:zlib";

// 206 while it included the session view, which renders Markdown, knows every card and now loads after the
// first paint; 140.8 while it included the English words of all pages, which now load with their page.
const BUDGET_KB = 95.2;
const dist = new URL("../dist/", import.meta.url).pathname;
if (!existsSync(join(dist, "index.html"))) {
  console.error("ui/dist is missing: build first (npm run build)");
  process.exit(2);
}
const html = readFileSync(join(dist, "index.html"), "utf8");
const entries = [...html.matchAll(/(?:src|href)="\.\/([^"]+\.(?:js|css))"/g)].map((match) => match[1]);
const seen = new Set();
function visit(file) {
  if (seen.has(file)) return;
  seen.add(file);
  if (!file.endsWith(".js")) return;
  const code = readFileSync(join(dist, file), "utf8");
  for (const match of code.matchAll(/(?:^|[;}\s])(?:import|export)(?:[^"'();]*?from)?["']\.\/([^"']+)["']/g)) {
    visit(normalize(join(dirname(file), match[1])));
  }
}
entries.forEach(visit);
let total = 0;
for (const file of seen) {
  const size = gzipSync(readFileSync(join(dist, file)), { level: 9 }).length / 1000;
  total += size;
  console.log(`${size.toFixed(1).padStart(7)} kB  ${file}`);
}
console.log(`${total.toFixed(1).padStart(7)} kB  of ${BUDGET_KB} kB`);
if (total > BUDGET_KB) {
  console.error(
    "The start of the page grew past its budget: load the new part later, or raise the budget with a reason.",
  );
  process.exit(1);
}
