// map_rooms.c - lists the rooms of a map, and names them.
//
//     GET  /v1/map/rooms                     {world, rooms: [{number, area_m2, x, y, polygon, zone?}]}
//     POST /v1/map/rooms {x, y, en?, zh?}    the room at this place has that name from now on: {zone, known}
//
// A point inside the room identifies it, because its number may change when the map grows.
#include "serve/access/reply.h"
#include "serve/robot/robot.h"

static int no_maps(pons__request *r)
{
    return pons__reply_error(r, 404, "this server has no maps");
}

static int rooms(pons__request *r)
{
    pons_value *all = NULL;
    const pons_serve_host *h = &r->s->o.host;
    const int rc = h->rooms ? h->rooms(h->user, &all, &r->err) : PONS_OK;
    return h->rooms ? pons__reply_result(r, rc, all) : no_maps(r);
}

static int name_room(pons__request *r)
{
    pons_value *named = NULL;
    const pons_serve_host *h = &r->s->o.host;
    if (!h->room_name) {
        return no_maps(r);
    }
    const int rc = h->room_name(h->user, pons_get_num(r->body, "x", 0.0),
                                pons_get_num(r->body, "y", 0.0), pons_get_str(r->body, "en", NULL),
                                pons_get_str(r->body, "zh", NULL), &named, &r->err);
    return pons__reply_result(r, rc, named);
}

const pons__route pons__room_routes[] = {
    {"GET", "/v1/map/rooms", PONS__VIEWER, rooms},
    {"POST", "/v1/map/rooms", PONS__OPERATOR, name_room},
    {NULL, NULL, PONS__NOBODY, NULL},
};
