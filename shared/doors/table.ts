// The door to DynamoDB, and what of it others may use: nobody else looks into table/.
export { insertMany, updateMany, writeMany } from "./table/batches.ts";
export { claim, Unmet, updateReturning, write } from "./table/making.ts";
export { count, get, getMany, type Page, query, queryAll } from "./table/reads.ts";
export { type Changes, change, check, put, remove, update, type Write } from "./table/writes.ts";
