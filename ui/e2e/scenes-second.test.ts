/** Tests every second scene, starting with the second: see `every.ts`. */
import { everyOther } from "./every";

everyOther(1);
