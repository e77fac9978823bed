import type { Page } from "playwright-core";

/** What pictures are taken of. */
export const scenes: Record<
  string,
  { fake: string; query?: string; side?: boolean; size?: [number, number]; act?: (page: Page) => Promise<void> }
>;
