// @ts-check
// fleet.js - whether the workspace is a fleet's, and how that stands: asked for every second, for Stop is for
// all of its robots whichever view is shown.
const EVERY_MS = 1000, LOOK_MS = 5000; // look: whether there is one by now

/** @param {{wire: import('/ui/wire.js').Wire, heard: (m: any) => void, shown: () => boolean, first: () => void}} o */
export function followFleet({ wire, heard, shown, first }) {
  let known = false, map = '';
  const look = async () => {
    try {
      const r = await wire.ask('GET', '/v1/fleet');
      if (r.status === 200) {
        if (map !== `${r.body.map} ${r.body.pid}`) {
          const m = await wire.ask('GET', '/v1/fleet/map');
          if (m.status === 200) { heard({ kind: 'fleet_map', data: m.body }); map = `${r.body.map} ${r.body.pid}`; }
        }
        heard({ kind: 'fleet', data: r.body });
        if (!known) first();
        known = true;
      } else if (r.status === 404) known = false;
    } catch { /* the stream tells that the server is gone */ }
    setTimeout(next, known ? EVERY_MS : LOOK_MS);
  };
  const next = () => { if (known || shown()) look(); else setTimeout(next, LOOK_MS); };
  look();
}
