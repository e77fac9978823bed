/** Tests every second scene, starting with the first: see `every.ts`. */
import { checkEverySecond } from "./check-scenes";

checkEverySecond(0);
