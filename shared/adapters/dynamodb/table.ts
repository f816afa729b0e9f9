// The DynamoDB adapter. Other files import only this module and conditions.ts.
export { insertMany, updateMany, writeMany, writeManyTogether } from "./batches.ts";
export { joinCallsOfRequests } from "./joined-calls.ts";
export {
  count,
  get,
  getMany,
  getManyTogether,
  getTogether,
  type QueryPage,
  query,
  queryAll,
  queryPages,
} from "./reads.ts";
export { ConditionFailed, transact, updateReturning, write } from "./transactions.ts";
export {
  checkCondition,
  type ItemChanges,
  put,
  remove,
  update,
  updateExisting,
  type Write,
} from "./writes.ts";
