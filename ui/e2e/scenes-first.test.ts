/** Tests every second scene, starting with the first: see `every.ts`. */
import { everyOther } from "./every";

everyOther(0);
