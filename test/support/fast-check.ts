// fast-check with the seed of the run: the same commit gives the same result.
import fc from "fast-check";
import { seed } from "./extent.ts";

fc.configureGlobal({ seed });

export default fc;
