// Files of a project without isolation share a process. Each file gets modules of the service and
// of the tests of its own, without what these remember. Packages stay loaded.
import { vi } from "vitest";

vi.resetModules();
