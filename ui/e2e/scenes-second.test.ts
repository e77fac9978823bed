/** Every other scene, from the second: see `every.ts`. */
import { everyOther } from "./every";

everyOther(1);
