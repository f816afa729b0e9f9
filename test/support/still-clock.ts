// For `node --import`: the clock of a service stands still, except where a test moves it. It must be
// loaded before all other modules.
const startedAt = Date.now();
Date.now = () => startedAt;
