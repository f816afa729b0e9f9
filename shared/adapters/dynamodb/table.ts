// The DynamoDB adapter. Other files import only this module and conditions.ts.
export {
  insertMany,
  insertTogether,
  updateMany,
  updateTogether,
  writeMany,
  writeManyTogether,
} from "./batches.ts";
export { areRequestsJoined, joinCalls, joinCallsOfRequests } from "./joined-calls.ts";
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
export { ConditionFailed, claimAtOnce, transact, updateReturning, write } from "./transactions.ts";
export {
  checkCondition,
  type ItemChanges,
  put,
  remove,
  update,
  updateExisting,
  type Write,
} from "./writes.ts";
