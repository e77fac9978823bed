/** Tests every second scene, starting with the second: see `every.ts`. */
import { checkEverySecond } from "./check-scenes";

checkEverySecond(1);
