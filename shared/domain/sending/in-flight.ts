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

/**
 * Waits for a free place. Returns the function that leaves it, or undefined when the calls inside
 * are stuck, or when too many are waiting.
 */
export async function enter(orgId: number, configId: number): Promise<(() => void) | undefined> {
  const leaveConfig = await enterRoom(`config ${configId}`, maxPerConfig);
  const leaveOrganization =
    leaveConfig && (await enterRoom(`organization ${orgId}`, maxPerOrganization));
  if (!leaveOrganization) {
    leaveConfig?.();
    return undefined;
  }
  return () => {
    leaveOrganization();
    leaveConfig();
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

async function enterRoom(name: string, limit: number): Promise<(() => void) | undefined> {
  const room = roomOf(name);
  if (room.inside < limit) occupy(room);
  else if (!(await waitForPlace(room))) return undefined;
  return () => leaveRoom(name, room);
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
