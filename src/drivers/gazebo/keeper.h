// keeper.h - what the driver and the keeper of its robot say to each other, a byte at a time.
#pragma once

#define GAZEBO_KEEPER_NAME "gazebo-keeper" // beside the module

// from the driver: a velocity was published; then it goes in peace
#define GAZEBO_KEEPER_MOVES  'm'
#define GAZEBO_KEEPER_STANDS 's'
#define GAZEBO_KEEPER_BYE    'q'
// from the keeper, again and again: is there somebody who hears what it would publish?
#define GAZEBO_KEEPER_HEARD   'r'
#define GAZEBO_KEEPER_UNHEARD 'n'

#define GAZEBO_KEEPER_QUIET_MS 300  // of a driver whose robot moves; then it stands
#define GAZEBO_KEEPER_ZEROS_MS 200  // for so long zero is said, once the driver has died
#define GAZEBO_KEEPER_ALIVE_MS 100  // between two words of a keeper
#define GAZEBO_KEEPER_HANGS_MS 1000 // of one that says nothing: it is not there
#define GAZEBO_KEEPER_END_MS   2000 // it takes no longer to end
