// Limits the parallel provider calls of single sends in this process. A provider that hangs uses up
// the limit of its own sending config and organization only, so the mail of all others continues.

const maxPerConfig = 25;
const maxPerOrganization = 50;
const maxWaiting = 75;
/** A room is stuck when it is full and no call ended for this long. */
const stuckAfterMs = 2500;

/** The calls of one config or organization. */
interface Room {
  inside: number;
  /** When a call last started or ended (milliseconds of the process). */
  movedAt: number;
  waiting: ((entered: true) => void)[];
}
const rooms = new Map<string, Room>();

export interface CallPlace {
  leave(): void;
  /** False when it had to wait, so that data read before may be stale. */
  atOnce: boolean;
}

/**
 * Waits for a free place. Undefined when the calls inside are stuck, or when too many are waiting.
 */
export async function enter(orgId: number, configId: number): Promise<CallPlace | undefined> {
  const config = await enterRoom(`config ${configId}`, maxPerConfig);
  const organization = config && (await enterRoom(`organization ${orgId}`, maxPerOrganization));
  if (!organization) config?.leave();
  return (
    organization && {
      leave() {
        organization.leave();
        config.leave();
      },
      atOnce: config.atOnce && organization.atOnce,
    }
  );
}

/** Undefined when no place is free. */
export function enterAtOnce(orgId: number, configId: number): Pick<CallPlace, "leave"> | undefined {
  const places = [
    { name: `config ${configId}`, limit: maxPerConfig },
    { name: `organization ${orgId}`, limit: maxPerOrganization },
  ];
  if (places.some(({ name, limit }) => (rooms.get(name)?.inside ?? 0) >= limit)) return undefined;
  const taken = places.map(({ name }) => ({ name, room: roomOf(name) }));
  for (const { room } of taken) occupy(room);
  return {
    leave() {
      for (const { name, room } of taken) leaveRoom(name, room);
    },
  };
}

function roomOf(name: string): Room {
  const room = rooms.get(name) ?? { inside: 0, movedAt: 0, waiting: [] };
  rooms.set(name, room);
  return room;
}

function occupy(room: Room): void {
  room.inside++;
  room.movedAt = performance.now();
}

async function enterRoom(name: string, limit: number): Promise<CallPlace | undefined> {
  const room = roomOf(name);
  const atOnce = room.inside < limit;
  if (atOnce) occupy(room);
  else if (!(await waitForPlace(room))) return undefined;
  return { leave: () => leaveRoom(name, room), atOnce };
}

async function waitForPlace(room: Room): Promise<boolean> {
  const isStuck = () => performance.now() - room.movedAt > stuckAfterMs;
  if (isStuck() || room.waiting.length >= maxWaiting) return false;
  const turn = Promise.withResolvers<boolean>();
  room.waiting.push(turn.resolve);
  const timer = setInterval(() => {
    if (!isStuck()) return;
    room.waiting = room.waiting.filter((resolve) => resolve !== turn.resolve);
    turn.resolve(false);
  }, stuckAfterMs / 5);
  return turn.promise.finally(() => clearInterval(timer));
}

function leaveRoom(name: string, room: Room): void {
  room.movedAt = performance.now();
  const next = room.waiting.shift();
  if (next) next(true);
  else room.inside--;
  if (!room.inside) rooms.delete(name);
}
