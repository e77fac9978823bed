/** Every other scene, from the first: see `every.ts`. */
import { everyOther } from "./every";

everyOther(0);
