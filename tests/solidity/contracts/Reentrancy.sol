// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// The classic: the state is settled after the call, or before it.
interface Receiver {
    function receiveCoins(uint amount) external;
}

contract Careless {
    uint paid;
    bool done;

    function pay(Receiver to) public {
        require(!done);
        to.receiveCoins(1);
        paid += 1;
        done = true;
        assert(paid == 1); // expect: unsafe
    }
}

contract Careful {
    uint paid;
    bool done;

    function pay(Receiver to) public {
        require(!done);
        done = true;
        paid += 1;
        to.receiveCoins(1);
        assert(paid == 1); // expect: safe
    }
}
