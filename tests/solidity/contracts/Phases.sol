// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// A state machine: phases are passed in order, and money stays until the end.
contract Phases {
    enum Phase { Open, Closed, Paid }

    Phase phase;
    uint held;
    uint closings;

    function give(uint amount) public {
        require(phase == Phase.Open && amount > 0);
        held += amount;
    }

    function close() public {
        require(phase == Phase.Open);
        phase = Phase.Closed;
        closings++;
    }

    function pay() public {
        require(phase == Phase.Closed);
        held = 0;
        phase = Phase.Paid;
    }

    function once() public view {
        assert(closings <= 1); // expect: safe
    }

    function settled() public view {
        assert(phase != Phase.Paid || held == 0); // expect: safe
    }

    function never() public view {
        assert(phase != Phase.Paid); // expect: unsafe
    }
}
